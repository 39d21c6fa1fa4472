package simulation_test

import (
	"maps"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
	"github.com/imagegend/imagegend/proof/internal/journal"
)

// judge holds what is there in the end against what was told.
func (w *world) judge() {
	w.audit(w.db)
	if !w.plan.joint {
		w.audit(w.books)
	}
	records := w.records()
	used := map[string]imagegen.GenerationID{} // idempotency keys
	for _, o := range w.witness.all() {
		r, ok := records[o.request.Prompt]
		if !ok && o.erase != standing { // which takes the prompt out
			var err error
			r, err = w.db.Generation(w.Context(), o.id)
			w.is.NoErr(err)
			records[o.request.Prompt], ok = r, true
		}
		w.met.Add("orders", 1)
		w.judgeOrder(o, r, ok)
		if key := r.IdempotencyKey; ok && key != "" {
			if used[key] != "" {
				w.witness.complain(o, "its key belongs to %s as well", used[key])
			}
			used[key] = r.ID
		}
	}
	w.judgeBooks(slices.Collect(maps.Values(records)))
	w.judgeQueue()
	w.judgeShelf(slices.Collect(maps.Values(records)))
}

func (w *world) audit(db *memory.DB) {
	report, err := db.Audit(w.Context())
	w.is.NoErr(err)
	for _, v := range report.Violations {
		w.Errorf("audit: %v", v)
	}
}

// records are all that owners can see, by their prompts.
func (w *world) records() map[string]imagegen.Record {
	all := map[string]imagegen.Record{}
	for _, u := range w.witness.users {
		for q := (imagegen.Query{Limit: imagegen.MaxPageSize}); ; {
			page, more, err := w.db.Generations(w.Context(), u, q)
			w.is.NoErr(err)
			for _, r := range page {
				if former, twice := all[r.Prompt]; twice {
					w.Errorf("%q was accepted twice: %s and %s", r.Prompt, former.ID, r.ID)
				}
				all[r.Prompt] = r
				q.After = r.ID
			}
			if !more {
				break
			}
		}
	}
	return all
}

// judgeOrder holds one order against its record, if there is one.
func (w *world) judgeOrder(o *order, r imagegen.Record, there bool) {
	switch {
	case !there && o.id != "":
		w.witness.complain(o, "it was accepted, and is gone")
	case there && o.id == "" && !o.doubt:
		w.witness.complain(o, "%s was accepted, and nobody was told", r.ID)
	}
	if !there {
		return
	}
	switch {
	case o.erase == erased && r.State != imagegen.StateErased, o.erase == standing && !r.Terminal():
		w.witness.complain(o, "%s is %s in the end", r.ID, r.State)
	case r.Terminal():
		w.witness.hear(o, w.witness.now(), r.Generation())
	}
	switch {
	case r.Published == r.N:
		w.met.Add("succeeded", 1)
	case r.Published > 0:
		w.met.Add("partial", 1)
	default:
		w.met.Add("failed", 1)
	}
}

// judgeBooks holds the charges in the journal against the records, and the balances against both.
func (w *world) judgeBooks(records []imagegen.Record) {
	charged := map[imagegen.ChargeID]imagegen.Record{}
	spent := map[imagegen.UserID]imagegen.Credits{}
	for _, r := range records {
		charged[r.Charge().ID] = r
		spent[r.User] += r.Price * imagegen.Credits(r.Published)
	}
	for _, u := range w.witness.users {
		w.grant(u, w.plan.rushes) // which writes off what has expired
		a := w.readAccount(u)
		for id, c := range a.Charges {
			w.judgeCharge(c, charged)
			delete(charged, id)
		}
		w.judgeBalance(u, w.granted[u]-spent[u]-a.Expired)
	}
	for id := range charged {
		w.Errorf("%s was never charged", id)
	}
}

// judgeCharge holds one charge against its record. One without a record was undone before anybody
// was told, which a ledger that commits with the store has no need of.
func (w *world) judgeCharge(c journal.Charge, records map[imagegen.ChargeID]imagegen.Record) {
	r, ok := records[c.ID]
	switch {
	case !ok && (w.plan.joint || !c.Closed || c.Used != 0):
		w.Errorf("%+v was made, and there is no such generation; closed: %t, spent: %d", c.Charge, c.Closed, c.Used)
	case ok:
		if err := r.CheckCharge(c.Charge, c.Closed, c.Used); err != nil {
			w.Error(err)
		}
	}
}

func (w *world) judgeBalance(u imagegen.UserID, want imagegen.Credits) {
	b, err := w.books.Balance(w.Context(), u)
	w.is.NoErr(err)
	if b.Credits != want {
		w.Errorf("%s was granted %d, and what was not spent and has not expired of it is %d; the balance is %d", u, w.granted[u], want, b.Credits)
	}
	lots, err := w.books.Lots(w.Context(), u)
	w.is.NoErr(err)
	for _, l := range lots {
		if l.Held != 0 {
			w.Errorf("lot %s of %s holds %d credits for nothing", l.ID, u, l.Held)
		}
	}
}

func (w *world) readAccount(u imagegen.UserID) journal.Account {
	const all = 1 << 30
	entries, err := w.books.History(w.Context(), u, 0, all)
	w.is.NoErr(err)
	return journal.Read(entries, func(ok bool, format string, args ...any) {
		if !ok {
			w.Errorf(format, args...)
		}
	})
}

// judgeQueue checks that nothing is under way.
func (w *world) judgeQueue() {
	const all = 1 << 20
	queued, err := w.db.Queued(w.Context(), "")
	w.is.NoErr(err)
	running, err := w.db.Recover(w.Context(), all, 1)
	w.is.NoErr(err)
	if queued.All > 0 || len(running) > 0 {
		w.Errorf("%d generations are queued, and %d are under way: %v", queued.All, len(running), running)
	}
}

// judgeShelf checks that what lies there is what the records name.
func (w *world) judgeShelf(records []imagegen.Record) {
	named := map[imagegen.ImageKey]bool{}
	for _, r := range records {
		for _, i := range r.Images {
			named[r.ImageKey(i)] = true
		}
	}
	images, spooled := w.shelf.inventory()
	for _, k := range images {
		if !named[k] && !w.excuse.forImage(k) {
			w.Errorf("image %s of attempt %d is named by no record", k.Image, k.Attempt)
		}
	}
	for _, id := range spooled {
		if !w.excuse.forSpooled(id) {
			w.Errorf("%s was left in the spool", id)
		}
	}
	w.met.Add("left for the next start", len(images)-len(named)+len(spooled))
}
