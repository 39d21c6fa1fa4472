// Package steps tells what happened to a generation and its credits.
package steps

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
)

// Step is one thing that happened to a generation.
type Step struct {
	Kind  string    // its CSS class: done, refund, failed or open
	Title string    // what happened
	Why   string    // why, as a sentence; may be empty
	At    time.Time // zero: the time is unknown, or the step is going on
}

// Of are what happened to a generation and its credits, in order. They are derived from the record alone.
func Of(r imagegen.Record) []Step {
	// The record has no time of its own for the charge, which follows acceptance at once.
	charge := r.Charge().Credits
	images := format.Count(r.N, "image", "images")
	all := []Step{
		{"done", "Accepted", images + " of " + r.Model + " in " + string(r.Tier) + ".", r.CreatedAt},
		{"done", "Charged " + format.Amount(charge), images + " at " + format.Amount(r.Price) + " each.", r.CreatedAt},
	}
	if r.Failures > 0 {
		why := "The provider failed for the moment, " + format.Count(r.Failures, "time.", "times.")
		all = append(all, Step{"done", "Tried again", why, time.Time{}})
	}
	switch r.Status() {
	case imagegen.StatusQueued:
		return append(all, Step{"open", "Waiting", "It begins when its turn comes.", time.Time{}})
	case imagegen.StatusProcessing:
		if shown := len(r.Images); shown > 0 {
			all = append(all, Step{"done", format.Count(shown, "image is", "images are") + " there",
				"They stay, whatever becomes of the others.", r.Images[shown-1].CreatedAt})
		}
		return append(all, Step{"open", "In the making", "The images appear here by themselves.", time.Time{}})
	}
	return append(all, Ending(r)...)
}

// Ending is how a terminal generation ended: delivered or failed, and what was refunded.
func Ending(r imagegen.Record) []Step {
	back := r.Charge().Credits - r.Used()
	refund := Step{"refund", "Refunded " + format.Amount(back), "", r.CompletedAt}
	if r.Failure != nil {
		refund.Why = "Nothing was delivered, and nothing is charged."
		if r.Cancelled() {
			return []Step{{"failed", "Cancelled", "You cancelled it before it began.", r.CompletedAt}, refund}
		}
		return []Step{{"failed", "Failed", format.Sentence(r.Failure.Message()), r.CompletedAt}, refund}
	}
	steps := []Step{{"done", "Delivered " + format.Count(r.Published, "image", "images"),
		format.Plural(r.Published, "It", "They") + " cost " + format.Amount(r.Used()) + ".", r.CompletedAt}}
	if back == 0 {
		return steps
	}
	refund.Why = "The provider made " + format.Count(r.N-r.Published, "image", "images") + " fewer than was asked for."
	return append(steps, refund)
}
