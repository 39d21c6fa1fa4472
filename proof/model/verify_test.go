package model_test

import (
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/imagegend/imagegend/imagegen"
)

// verify holds what everybody can see against the model, after each step.
func (w *service) verify(t *rapid.T) {
	t.Helper()
	w.met.Add("steps", 1)
	w.forget()
	w.sameMembers()
	for _, u := range everybody {
		w.sameList(u, imagegen.Query{Limit: imagegen.MaxPageSize})
		w.sameBalance(u)
	}
	w.busy()
	if w.outsideLedger != nil {
		w.slips()
	}
}

// sameList compares a page of a user's generations.
func (w *service) sameList(u imagegen.UserID, q imagegen.Query) {
	w.Helper()
	page, err := w.As(u).Generations(w.Context(), q)
	if err != nil {
		w.Fatal(err)
	}
	want := w.page(u, q)
	for _, g := range page.Generations {
		w.adopt(g)
	}
	for i, o := range want.orders[:min(len(want.orders), len(page.Generations))] {
		if v := o.view(); !reflect.DeepEqual(v, page.Generations[i]) {
			w.Fatalf("generation %d of %s, %s: %s", i, u, o.phase, cmp.Diff(v, page.Generations[i],
				cmpopts.EquateErrors()))
		}
	}
	if len(page.Generations) != len(want.orders) || page.Next != want.next {
		w.Fatalf("%s has %d generations, then %q; want %d, then %q", u, len(page.Generations), page.Next,
			len(want.orders), want.next)
	}
}

type page struct {
	orders []*order
	next   imagegen.GenerationID
}

func (w *service) page(u imagegen.UserID, q imagegen.Query) (p page) {
	for _, o := range w.orders {
		s := o.status()
		if o.user == u && s != "" && (q.Status == "" || s == q.Status) && (q.After == "" || o.id < q.After) {
			p.orders = append(p.orders, o)
		}
	}
	slices.SortFunc(p.orders, byNewest)
	if len(p.orders) > q.Limit {
		p.orders = p.orders[:q.Limit]
		p.next = p.orders[q.Limit-1].id
	}
	return p
}

func (w *service) sameBalance(u imagegen.UserID) {
	w.Helper()
	w.books.look(time.Now())
	want := w.balance(u)
	got, err := w.As(u).Balance(w.Context())
	if err != nil || !reflect.DeepEqual(want, got) {
		w.Fatalf("balance of %s: %v %s", u, err, cmp.Diff(want, got))
	}
	if w.outsideLedger != nil {
		return
	}
	lots, err := w.Lots(w.Context(), u)
	if err != nil {
		w.Fatal(err)
	}
	w.books.untie(u, lots)
	w.books.adopt(w.T, u, lots)
	if want := w.books.list(u); !slices.Equal(want, lots) {
		w.Fatalf("lots of %s: %s", u, cmp.Diff(want, lots))
	}
}

// busy checks that no slot is free while work waits that may have it, and no more are used than there are.
func (w *service) busy() {
	w.Helper()
	if len(w.calls) > concurrency {
		w.Fatalf("%d calls of the provider at once", len(w.calls))
	}
	if !w.up || len(w.calls) == concurrency {
		return
	}
	for _, o := range w.orders {
		late := o.phase == queued && !time.Now().Before(o.notBefore)
		forgotten := o.phase == lost && time.Since(later(o.away, w.began)) > lease+recovered
		if (o.waits() || late || forgotten) && !w.mayWait(o.request.Model) {
			w.Fatalf("%#v: waits, with a slot free", o)
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// slips holds each record against its charge in the outside ledger.
func (w *service) slips() {
	w.Helper()
	slips, open := w.outsideLedger.read(), 0
	for id, o := range w.byID {
		r, err := w.Generation(w.Context(), id)
		if err != nil {
			w.Fatal(err)
		}
		s := slips[r.Charge().ID]
		if err := errors.Join(r.Check(), r.CheckCharge(s.Charge, s.closed, s.used)); err != nil {
			w.Fatal(err)
		}
		if (r.Dispute != "") != o.disputed {
			w.Fatalf("%#v: in dispute: %q", o, r.Dispute)
		}
		if o.completed.IsZero() || o.disputed {
			open++
		}
	}
	for id, s := range slips {
		if !s.closed {
			open--
		} else if w.byID[imagegen.GenerationID(id)] == nil && s.used != 0 {
			w.Fatalf("%d credits were spent on %s, which nobody knows", s.used, id)
		}
	}
	if open != 0 {
		w.Fatalf("%d charges are open for nothing", -open)
	}
}
