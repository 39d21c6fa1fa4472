// Package engine carries the rules of the service: what a request means and costs, who is
// charged and refunded, which attempt is made when, and what becomes of its images. [New]
// makes an [Engine] over a store, a ledger and providers; [Engine.As] is the
// [imagegen.Service] of one user.
//
// A call is first planned and priced (plan.go). If it repeats an earlier one, it gets that
// one's answer (idempotency.go, join.go). Otherwise it is accepted: synchronous work waits
// for a slot (generate.go), and then record and charge become durable (settle.go). From
// there an attempt owns the work (attempt.go): it asks the provider, checks and stores the
// images (storeimage.go), and makes the outcome and the settlement durable (outcome.go).
// Asynchronous work waits in the Store's queue until dispatch.go claims it. What a dead
// process leaves unfinished, recover.go finishes from the record alone.
//
// [Engine.Start] starts one goroutine each for dispatching, recovery, maintenance and leases,
// and one for thumbnails if there are any. Besides, each attempt has a goroutine, and one
// polls the Store while calls of Await wait. [Engine.Stop] ends all of them, except a provider
// that does not return.
//
// What is kept only in memory may be lost with the process: the counts of refusals, who
// waits for which answer, and the thumbnails that are still to be made. The books never
// depend on it.
package engine
