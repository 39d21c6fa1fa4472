// Package engine carries the rules of the service: what a request means and costs, who is charged and
// refunded, which attempt is made when, and what becomes of its images. [New] makes an [Engine] over a
// store, a ledger and providers; [Engine.As] is the [imagegen.Service] of one user.
package engine
