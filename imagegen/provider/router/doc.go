// Package router puts several providers behind one model. It shares the work among them,
// avoids those that fail, and moves a request to the next one when it is certain that
// nothing was made or paid for.
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
// # Which member is asked
//
// The router can do what any of its members can. A request goes only to members that can do all of it: size, ratio,
// tier, number of images, references, options and prompt. Check refuses what no member can do, before the charge.
//
// Members with a weight come first, in a random order: the higher the weight, the more often a member is the first.
// Then come those without, in the order of the configuration. If the request has an explicit size, members that make
// exactly that size come first within each of the two groups. The random order follows from the request's Key, so
// every attempt at a generation begins with the same member, which may know the key already.
//
// A member is skipped while its circuit breaker is open, or while it is rate-limited or overloaded and has said for how
// long. The breaker opens after a number of consecutive failures, or after a single one that only an operator can mend.
// After a time it lets one request through, and closes if that succeeds. A user's mistake never counts as a failure of
// the member. If all available members are busy, the request waits for the first place.
//
// # When the next member is asked
//
// The next member is asked only after an error of imagegen.ClassRateLimited, ClassUnavailable
// or ClassBlocked: they say that no more images were made. Images that came before the error
// count, and the next member is asked for the rest. After any other error the call ends, since
// the work may have been done and paid for, and a refused request must not be offered to one
// upstream after another. Too few images without an error do not lead to the next member.
//
// While a member has a saved job, no other member is asked, whatever the error: the member's upstream may be working.
// The job is stored with the member's name, and the next attempt gives it to the same member, available or not. If
// the configuration has no member of that name any more, or it has another upstream, the call ends with an error of
// imagegen.ClassUnknown that says so.
//
// When all members have failed and Retries are left, all are asked again after a pause. If they have failed for good,
// the error is of ClassRateLimited or ClassBlocked if that of each of them is, and of ClassUnavailable otherwise.
package router
