package disk_test

import (
	"errors"
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/proof/internal/journal"
)

// account is what a user has.
type account struct {
	*inspection
	user        imagegen.UserID
	entries     []imagegen.Entry
	booked      journal.Account
	generations []imagegen.Generation
}

func (i *inspection) account(u imagegen.UserID) account {
	a := account{inspection: i, user: u, entries: i.history(u)}
	a.booked = journal.Read(a.entries, i.fact)
	for q := (imagegen.Query{Limit: imagegen.MaxPageSize}); ; {
		page, err := i.engine.As(u).Generations(i.ctx, q)
		i.check(err)
		a.generations = append(a.generations, page.Generations...)
		if q.After = page.Next; q.After == "" {
			return a
		}
	}
}

// balance checks that the balance is the sum of the entries.
func (a account) balance() {
	b, err := a.db.Balance(a.ctx, a.user)
	a.check(err)
	a.fact(b.Credits == a.booked.Balance, "%s has %d credits, by the journal %d", a.user, b.Credits, a.booked.Balance)
}

// charges checks that each charge is a generation's, and where all is settled that it is closed.
func (a account) charges(settled bool) {
	visible := map[imagegen.ChargeID]bool{}
	for _, g := range a.generations {
		id := imagegen.ChargeID(g.ID)
		visible[id] = true
		c := a.booked.Charges[id]
		a.fact(c.Credits == g.CreditsRequested, "%s was charged %d of %d", id, c.Credits, g.CreditsRequested)
		a.fact(g.Status.Terminal() || !settled, "%s is %s after recovery", id, g.Status)
		a.fact(g.Status.Terminal() == c.Closed, "%s is %s, its charge ended: %v", id, g.Status, c.Closed)
		a.fact(c.Used == g.Credits && g.Credits == price*imagegen.Credits(len(g.Images)), "%s has %d images and cost %d of %d", id, len(g.Images), c.Used, g.Credits)
	}
	for id, c := range a.booked.Charges {
		a.fact(visible[id] || a.erased[imagegen.GenerationID(id)] != nil, "%d credits were charged for %s, which nobody sees", c.Credits, id)
		a.fact(c.Closed || !settled, "the charge of %s is open after recovery", id)
	}
}

// deed checks one thing that was asked for.
func (a account) deed(d *deed, settled bool) {
	switch d.asked.What {
	case granting:
		a.granted(d)
	case generating:
		a.generated(d, settled)
	case erasing:
		_, err := a.engine.As(a.user).Generation(a.ctx, d.asked.ID)
		a.fact(err == nil || errors.Is(err, imagegen.ErrNotFound), "%s: %v", d.asked.Name, err)
		a.fact(err != nil || !d.was(done), "%s: done, and it is there", d.asked.Name)
	}
}

func (a account) granted(d *deed) {
	n := 0
	for _, e := range a.entries {
		if e.Kind == imagegen.EntryGrant && e.Ref == d.asked.Name {
			n++
			a.fact(e.Credits == d.asked.Credits, "%s: %d credits instead of %d", e.Ref, e.Credits, d.asked.Credits)
		}
	}
	a.fact(n <= 1, "%s: granted %d times", d.asked.Name, n)
	a.fact(n == 1 || !d.was(done), "%s: done, and it is not there", d.asked.Name)
	a.fact(n == 0 || d.was(done, unknown) || !d.was(refused), "%s: refused, and it is there", d.asked.Name)
}

func (a account) generated(d *deed, settled bool) {
	var found []imagegen.Generation
	for _, g := range a.generations {
		if g.Prompt == d.asked.Name {
			found = append(found, g)
		}
	}
	a.fact(len(found) <= 1, "%q was generated %d times", d.asked.Name, len(found))
	a.fact(len(found) == 0 || !d.denied(), "%q was denied, and it is there", d.asked.Name)
	if settled && len(found) == 1 && d.was(accepted) && !d.was(failed) {
		made := len(found[0].Images)
		a.fact(made == d.asked.Request.Makes || a.broken && made < d.asked.Request.Makes, "%q was accepted and came to %d images instead of %d", d.asked.Name, made, d.asked.Request.Makes)
	}
	for _, w := range d.told {
		if !slices.Contains([]told{accepted, done, failed}, w.Told) {
			continue
		}
		if a.erased[w.ID] != nil {
			continue
		}
		a.fact(len(found) == 1 && found[0].ID == w.ID, "%q was told %q as %s, and it is not there", w.Name, w.Told, w.ID)
		if len(found) == 1 {
			a.same(w, found[0])
		}
	}
}

// same checks that a generation is what was told.
func (a account) same(w word, g imagegen.Generation) {
	if w.Told == failed {
		a.fact(g.Status == imagegen.StatusFailed && g.Credits == 0, "%q had failed and is %s", w.Name, g.Status)
	}
	if w.Generation == nil {
		return
	}
	diff := cmp.Diff(*w.Generation, g)
	a.fact(diff == "", "%q is another than was told: %s", w.Name, diff)
	hashes, err := hashesOf(a.engine, g)
	a.fact(err == nil && slices.Equal(hashes, w.Hashes), "%q has other images than were told: %v", w.Name, err)
}
