package console

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// step is one thing that happened to a generation.
type step struct {
	Kind  string    // its CSS class: done, refund, failed or open
	Title string    // what happened
	Why   string    // why, as a sentence; may be empty
	At    time.Time // zero: the time is unknown, or the step is going on
}

// steps are what happened to a generation and its credits, in order. They are derived from the record alone.
func steps(r imagegen.Record) []step {
	// The record has no time of its own for the charge, which follows acceptance at once.
	charge := r.Charge().Credits
	all := []step{
		{"done", "Accepted", count(r.N, "image", "images") + " of " + r.Model + " in " + string(r.Tier) + ".", r.CreatedAt},
		{"done", "Charged " + inCredits(charge), count(r.N, "image", "images") + " at " + inCredits(r.Price) + " each.", r.CreatedAt},
	}
	if r.Failures > 0 {
		all = append(all, step{"done", "Tried again", "The provider failed for the moment, " + count(r.Failures, "time.", "times."), time.Time{}})
	}
	switch r.Status() {
	case imagegen.StatusQueued:
		return append(all, step{"open", "Waiting", "It begins when its turn comes.", time.Time{}})
	case imagegen.StatusProcessing:
		if shown := len(r.Images); shown > 0 {
			all = append(all, step{"done", count(shown, "image is", "images are") + " there", "They stay, whatever becomes of the others.", r.Images[shown-1].CreatedAt})
		}
		return append(all, step{"open", "In the making", "The images appear here by themselves.", time.Time{}})
	}
	return append(all, ending(r)...)
}

// ending is how a terminal generation ended: delivered or failed, and what was refunded.
func ending(r imagegen.Record) []step {
	back := r.Charge().Credits - r.Used()
	refund := step{"refund", "Refunded " + inCredits(back), "", r.CompletedAt}
	if r.Failure != nil {
		refund.Why = "Nothing was delivered, and nothing is charged."
		if r.Cancelled() {
			return []step{{"failed", "Cancelled", "You cancelled it before it began.", r.CompletedAt}, refund}
		}
		return []step{{"failed", "Failed", sentence(r.Failure.Message()), r.CompletedAt}, refund}
	}
	steps := []step{{"done", "Delivered " + count(r.Published, "image", "images"), "They cost " + inCredits(r.Used()) + ".", r.CompletedAt}}
	if back == 0 {
		return steps
	}
	refund.Why = "The provider made " + count(r.N-r.Published, "image", "images") + " fewer than was asked for."
	return append(steps, refund)
}

// inCredits formats an amount with its unit.
func inCredits(n imagegen.Credits) string { return credits(n) + " " + plural(n, "credit", "credits") }
