// Package engine implements the rules of the service: what a request means and costs, who is
// charged and refunded, when an attempt is made, and what happens to its images. [New]
// makes an [Engine] from a store, a ledger and providers; [Engine.As] returns the
// [imagegen.Service] of one user.
//
// A call is first planned and priced (plan.go). If it repeats an earlier one, it gets that
// one's answer (idempotency.go, join.go, internal/waiting). Otherwise it is accepted: synchronous work waits
// for a slot (generate.go), and then record and charge become durable (settle.go). From
// there an attempt owns the work (attempt.go): it asks the provider, checks and stores the
// images (storeimage.go), and makes the outcome and the settlement durable (outcome.go).
// Asynchronous work waits in the Store's queue until dispatch.go claims it. If a process dies,
// recover.go finishes its work from the records alone.
//
// [Engine.Start] starts one goroutine each for dispatching, recovery, maintenance and leases,
// and one for thumbnails if Config.Thumbnails is set. In addition, each attempt has a goroutine,
// and one polls the Store while calls of Await wait. [Engine.Stop] ends all of them, except a
// provider that does not return.
//
// The counts of refusals, who waits for which answer, and the list of thumbnails to be made are
// kept only in memory, and are lost with the process. Credits never depend on them.
package engine
