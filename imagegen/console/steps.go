package console

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// step is one thing that happened to a generation.
type step struct {
	Kind  string    // for its looks: done, refund, failed, open
	Title string    // what
	Why   string    // and why, in a sentence; may be empty
	At    time.Time // zero: nobody knows when, or it is going on
}

// steps are what happened to a generation and its credits, in order.
func steps(r imagegen.Record) []step {
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

// ending is the last of them.
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

// inCredits is an amount with its word.
func inCredits(n imagegen.Credits) string { return credits(n) + " " + plural(n, "credit", "credits") }
