// Package fair chooses whose queued work a claim gets, as imagegen.Store.Claim describes.
package fair

import (
	"maps"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// Candidate is a user whose work may be claimed.
type Candidate[Ticket any] struct {
	User imagegen.UserID
	Held int                 // slots, with those that the claim has given
	Due  map[string][]Ticket // by model: the work that is due, in its order
}

// Share gives out up to d.Most tickets. Each goes to the user who then holds the fewest slots, among equals to the one
// whose turn is first: users come in the order of their turns, and a user who was served joins them again at the end.
// give takes the ticket, the first of its model, out of the user's Due.
func Share[Ticket any](d imagegen.ClaimRequest, users []*Candidate[Ticket], order func(a, b Ticket) int,
	give func(c *Candidate[Ticket], model string, t Ticket)) {
	d.Places = maps.Clone(d.Places) // the caller's stays as it is; this one counts down
	for given := 0; given < d.Most && len(users) > 0; {
		i := fewest(users)
		c := users[i]
		users = slices.Delete(users, i, i+1)
		model, t, ok := c.first(d, order)
		if !ok {
			continue // nothing is left whose model has a place; the user is out
		}
		give(c, model, t)
		given++
		if d.Places != nil {
			d.Places[model]--
		}
		if c.Held++; Allows(d, c.Held) {
			users = append(users, c)
		}
	}
}

// fewest returns the index of the user who holds the fewest slots; among equals, of the first.
func fewest[Ticket any](users []*Candidate[Ticket]) (first int) {
	for i, c := range users {
		if c.Held < users[first].Held {
			first = i
		}
	}
	return first
}

// first finds a user's first work among the models that have a place left.
func (c *Candidate[Ticket]) first(d imagegen.ClaimRequest, order func(a, b Ticket) int) (model string, first Ticket,
	ok bool) {
	for m, due := range c.Due {
		if len(due) > 0 && HasPlace(d, m) && (!ok || order(due[0], first) < 0) {
			model, first, ok = m, due[0], true
		}
	}
	return model, first, ok
}

// HasPlace reports whether a claim has a place left for a model.
func HasPlace(d imagegen.ClaimRequest, model string) bool {
	return d.Places == nil || d.Places[model] > 0
}

// Allows reports whether a claim is for users who hold this many slots.
func Allows(d imagegen.ClaimRequest, held int) bool { return d.Below == 0 || held < d.Below }
