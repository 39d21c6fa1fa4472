// Package router puts several providers behind one model: it shares the work among them, keeps away
// from those that are ill, and fails over to the next one where nothing can be made or paid twice.
//
//	p, err := router.New(router.Config{
//		Members: []router.Member{
//			{Provider: openai, Weight: 3, MaxConcurrent: 8},
//			{Provider: azure, Weight: 1},
//			{Provider: local}, // in reserve
//		},
//		Retries: 2,
//	})
//	...
//	imagegen.Model{ID: "fox-1", Provider: p, Credits: prices}
//
// # Who is asked
//
// The router can do what any of its members can; a request goes only to members that can honour all
// of it, in ratio, tier, size, images, references and prompt. What no member can honour is refused
// by Check, before the charge.
//
// Of those, the ones with a weight come first, in an order drawn by weight, then the ones without,
// in the order of the configuration. Where an explicit size is wanted, the ones that make just that come
// before those whose image would have to be cut, among the first and among the last. The request's Key decides the draw, so that every attempt at a
// generation begins at the same member, which may know the key already.
//
// A member is passed by while it is ill: its circuit breaker is open after a number of consecutive
// failures, or a single one that an operator must see to, and lets a single request through when its
// time is over; or it has said that it is rate-limited, and for how long. What the user did wrong never counts as a failure of the member. If all
// members that are well have as much work as they may have, the request waits for the first place.
//
// # When the next one is asked
//
// Only after an error of imagegen.ClassRateLimited, ClassUnavailable or ClassUnusable, which say that
// nothing more was made. Images that came before it count, and the next member is asked for the rest. After any
// other error the call ends: the work may have been done and cost money, and a request that was
// refused must not be offered to one upstream after another. Fewer images without an error are no reason either.
//
// A member that has saved a job keeps the generation until it forgets the job: its upstream may be
// at work, whatever the error says. The job is kept with the member's name, and goes back to the same
// member, ill or not; if the configuration has none of that name any more, the call ends with an
// error that says so.
//
// When all members have passed a request on, and Retries are left, all are asked again after a
// pause.
package router
