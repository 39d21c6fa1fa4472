package storagetest

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
)

// FeedReader reads a feed as another program does: it goes on from its place, whatever becomes of the processes that
// write the feed, and notes what it has read. The zero value begins with the oldest event.
type FeedReader struct {
	Events []imagegen.FeedEvent
}

// Place is the number of the last event that it has read; 0: it has read none.
func (r *FeedReader) Place() uint64 {
	if len(r.Events) == 0 {
		return 0
	}
	return r.Events[len(r.Events)-1].Number
}

// Read reads what is new.
func (r *FeedReader) Read(ctx context.Context, feed imagegen.FeedKeeper) error {
	const page = 100
	for {
		events, err := feed.Feed(ctx, r.Place(), page)
		r.Events = append(r.Events, events...)
		if err != nil || len(events) < page {
			return err
		}
	}
}

// Fed is a storage, of which nothing changes any more, and whose feed was on from the beginning.
type Fed struct {
	Store interface {
		imagegen.Store
		imagegen.FeedKeeper
	}
	Ledger interface { // nil: it is not part of the store, and its credits are not in the feed
		History(ctx context.Context, u imagegen.UserID, before uint64, limit int) ([]imagegen.Entry, error)
	}
	Users []imagegen.UserID // all of them
	// Fact is called with each thing that has to be so; the format says what is the case otherwise.
	Fact func(ok bool, format string, args ...any)
}

// Compare says whether the feed has each event once, whether a reader that went on from its place has read it all in
// the same order, and whether it tells what has happened, and nothing else: added up, it gives each change of each
// balance, in order, and the state of each generation. It returns the whole feed, and of how many generations it tells.
func (f Fed) Compare(ctx context.Context, read []imagegen.FeedEvent) (whole []imagegen.FeedEvent, generations int) {
	var r FeedReader
	err := r.Read(ctx, f.Store)
	f.Fact(err == nil, "the feed cannot be read: %v", err)
	f.once(r.Events)
	if n := firstDifference(r.Events, read); n >= 0 {
		f.Fact(false, "of %d events a reader has read %d; around no. %d (-there +read):\n%s", len(r.Events), len(read),
			n, cmp.Diff(namesAround(r.Events, n), namesAround(read, n)))
	}
	b := replay(r.Events)
	for _, u := range f.Users {
		f.compareAccount(ctx, u, b)
		f.compareVisible(ctx, u, b)
	}
	for id, kinds := range b.states {
		f.compareState(ctx, id, kinds)
	}
	return r.Events, len(b.states)
}

// once says that each event has an identifier of its own, and that numbers rise.
func (f Fed) once(events []imagegen.FeedEvent) {
	ids := map[string]bool{}
	last := uint64(0)
	for _, e := range events {
		f.Fact(e.Number > last, "event %s has number %d, and comes behind %d", e.ID, e.Number, last)
		f.Fact(e.ID != "" && !ids[e.ID], "event %d has the identifier %q of another one", e.Number, e.ID)
		ids[e.ID], last = true, e.Number
	}
}

// firstDifference is where two readings of a feed begin to differ; -1: nowhere.
func firstDifference(a, b []imagegen.FeedEvent) int {
	for n := range max(len(a), len(b)) {
		if n >= min(len(a), len(b)) || eventName(a[n]) != eventName(b[n]) {
			return n
		}
	}
	return -1
}

func eventName(e imagegen.FeedEvent) string { return fmt.Sprint(e.Number, " ", e.ID, " ", e.Kind) }

func namesAround(events []imagegen.FeedEvent, n int) (names []string) {
	for _, e := range events[min(len(events), max(0, n-1)):min(len(events), n+4)] {
		names = append(names, eventName(e))
	}
	return names
}

// books are what follows from the events of a feed, each in order.
type books struct {
	changes map[imagegen.UserID][]imagegen.Credits // of the balance
	states  map[imagegen.GenerationID][]imagegen.FeedKind
}

func replay(events []imagegen.FeedEvent) books {
	b := books{map[imagegen.UserID][]imagegen.Credits{}, map[imagegen.GenerationID][]imagegen.FeedKind{}}
	for _, e := range events {
		payer := e.User
		if e.Payer != "" {
			payer = e.Payer
		}
		switch e.Kind {
		case imagegen.FeedAccepted, imagegen.FeedSucceeded, imagegen.FeedFailed, imagegen.FeedCancelled:
			b.states[e.Generation] = append(b.states[e.Generation], e.Kind)
			b.changes[payer] = append(b.changes[payer], e.Credits)
		case imagegen.FeedErased:
			b.states[e.Generation] = append(b.states[e.Generation], e.Kind)
		case imagegen.FeedGranted, imagegen.FeedRevoked, imagegen.FeedExpired:
			b.changes[payer] = append(b.changes[payer], e.Credits)
		}
	}
	return b
}

// compareAccount says that the changes of a balance are those of the journal.
func (f Fed) compareAccount(ctx context.Context, u imagegen.UserID, b books) {
	if f.Ledger == nil {
		return
	}
	const all = 1 << 30
	entries, err := f.Ledger.History(ctx, u, 0, all)
	f.Fact(err == nil, "the journal of %s cannot be read: %v", u, err)
	var journal []imagegen.Credits
	for _, e := range slices.Backward(entries) {
		journal = append(journal, e.Credits)
	}
	if !slices.Equal(journal, b.changes[u]) {
		f.Fact(false, "the balance of %s (-journal +feed): %s", u, cmp.Diff(journal, b.changes[u]))
	}
}

// compareVisible says that the feed tells of each generation that a user can list.
func (f Fed) compareVisible(ctx context.Context, u imagegen.UserID, b books) {
	for q := (imagegen.Query{Limit: imagegen.MaxPageSize}); ; {
		page, more, err := f.Store.Generations(ctx, u, q)
		f.Fact(err == nil, "the generations of %s cannot be listed: %v", u, err)
		for _, r := range page {
			f.Fact(len(b.states[r.ID]) > 0, "%s is %s, and has no event", r.ID, r.State)
			q.After = r.ID
		}
		if !more {
			return
		}
	}
}

// compareState says that a generation has come to where its events say, with one event for each step.
func (f Fed) compareState(ctx context.Context, id imagegen.GenerationID, kinds []imagegen.FeedKind) {
	r, err := f.Store.Generation(ctx, id)
	f.Fact(err == nil, "%s has the events %v, and cannot be read: %v", id, kinds, err)
	further := kinds
	if f.Ledger != nil || kinds[0] == imagegen.FeedAccepted { // else its charge, which was in doubt, may be disputed
		f.Fact(kinds[0] == imagegen.FeedAccepted, "%s begins with %v", id, kinds)
		further = kinds[1:]
	}
	want := []imagegen.FeedKind{}
	switch {
	case r.Unsettled(): // it has not ended
	case r.Cancelled():
		want = append(want, imagegen.FeedCancelled)
	case r.State == imagegen.StateFailed:
		want = append(want, imagegen.FeedFailed)
	case r.State == imagegen.StateSucceeded:
		want = append(want, imagegen.FeedSucceeded)
	case len(further) > 0: // it was erased, and how it ended is not known any more
		want = append(want, further[0])
	}
	if r.State == imagegen.StateErased {
		want = append(want, imagegen.FeedErased)
	}
	f.Fact(slices.Equal(further, want), "%s is %s, and has the events %v", id, r.State, kinds)
}
