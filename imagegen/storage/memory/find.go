package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
)

// Generation implements [imagegen.Store].
func (s *store) Generation(ctx context.Context, id imagegen.GenerationID) (imagegen.Record, error) {
	return read(ctx, s, func() (imagegen.Record, error) {
		g, err := found(s.generations, id)
		if err != nil {
			return imagegen.Record{}, err
		}
		return rules.Clone(g.Record), nil
	})
}

// Generations implements [imagegen.Store]. Its cost grows with the number of the user's records.
func (s *store) Generations(ctx context.Context, u imagegen.UserID,
	q imagegen.Query) (page []imagegen.Record, more bool, err error) {
	limit := max(cmp.Or(q.Limit, imagegen.DefaultPageSize), 0)
	err = s.view(ctx, func() error {
		all := s.listed[u]
		if q.After != "" {
			i, _ := slices.BinarySearchFunc(all, q.After, byID)
			all = all[:i]
		}
		for _, g := range slices.Backward(all) {
			status := g.Status()
			if status == "" || q.Status != "" && status != q.Status || q.Favourites && !g.Favourite {
				continue
			}
			if more = len(page) == limit; more {
				break
			}
			page = append(page, rules.Clone(g.Record))
		}
		return nil
	})
	return page, more, err
}

// GenerationByIdempotencyKey implements [imagegen.Store].
func (s *store) GenerationByIdempotencyKey(ctx context.Context, u imagegen.UserID,
	key string) (imagegen.Record, error) {
	return read(ctx, s, func() (imagegen.Record, error) {
		r, err := lookup{s}.Reserved(u, key)
		return rules.Clone(r), err
	})
}

// Ended implements [imagegen.Store]. It looks at all generations, like most methods of this file.
func (s *store) Ended(ctx context.Context, age time.Duration, n int) ([]imagegen.Record, error) {
	old, err := s.aged(ctx, age, imagegen.Record.Terminal)
	return old[:min(n, len(old))], err
}

// Forgettable implements [imagegen.Store].
func (s *store) Forgettable(ctx context.Context, state imagegen.State, age time.Duration,
	n int) (fences []imagegen.Fence, err error) {
	old, err := s.aged(ctx, age, func(r imagegen.Record) bool {
		tells := state == imagegen.StateFailed && r.Prompt != "" || state == imagegen.StateErased &&
			r.IdempotencyKey != ""
		return r.State == state && tells
	})
	for _, r := range old[:min(n, len(old))] {
		fences = append(fences, r.Fence())
	}
	return fences, err
}

// aged returns clones of the records that are wanted and ended at least age ago, by their end.
func (s *store) aged(ctx context.Context, age time.Duration, wanted func(imagegen.Record) bool) ([]imagegen.Record,
	error) {
	at := s.books.Read()
	old, err := s.some(ctx, func(r imagegen.Record) bool { return wanted(r) && at.Age(r.CompletedAt) >= age })
	slices.SortStableFunc(old, func(a, b imagegen.Record) int { return a.CompletedAt.Compare(b.CompletedAt) })
	return old, err
}

// maxUndelivered bounds what Undelivered returns.
const maxUndelivered = 100

// Undelivered implements [imagegen.Store]. The list is sorted by identifier, so the newest are at its end.
func (s *store) Undelivered(ctx context.Context, u imagegen.UserID,
	joinKey [32]byte) (found []imagegen.Record, err error) {
	err = s.view(ctx, func() error {
		for _, g := range s.listed[u] {
			if g.Undelivered && g.JoinKey == joinKey {
				found = append(found, rules.Clone(g.Record))
			}
		}
		return nil
	})
	return found[max(0, len(found)-maxUndelivered):], err
}

// Disputed implements [imagegen.Inspector].
func (s *store) Disputed(ctx context.Context, after imagegen.GenerationID, n int) ([]imagegen.Record, int, error) {
	return s.behind(ctx, after, n, func(r imagegen.Record) bool { return r.Dispute != "" })
}

// Unsettled implements [imagegen.Inspector].
func (s *store) Unsettled(ctx context.Context, after imagegen.GenerationID, n int) ([]imagegen.Record, int, error) {
	return s.behind(ctx, after, n, imagegen.Record.Unsettled)
}

// behind returns up to n wanted records with higher identifiers than after, oldest first,
// and how many are wanted in all.
func (s *store) behind(ctx context.Context, after imagegen.GenerationID, n int, wanted func(imagegen.Record) bool) (
	found []imagegen.Record, total int, err error) {
	all, err := s.some(ctx, wanted)
	for _, r := range all {
		if r.ID > after && len(found) < n {
			found = append(found, r)
		}
	}
	return found, len(all), err
}

// some returns clones of the records that are wanted, by identifier.
func (s *store) some(ctx context.Context, wanted func(imagegen.Record) bool) (found []imagegen.Record, err error) {
	err = s.view(ctx, func() error {
		for _, g := range s.generations {
			if wanted(g.Record) {
				found = append(found, rules.Clone(g.Record))
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b imagegen.Record) int { return cmp.Compare(a.ID, b.ID) })
	return found, err
}
