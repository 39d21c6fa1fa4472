package storagetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// usageIsJournals compares the usage that a ledger lists with what its journal says, for some users.
func usageIsJournals(t *testing.T, b imagegen.CreditAdmin, users ...imagegen.UserID) {
	if t.Failed() {
		return
	}
	is := is.New(t)
	ctx := context.WithoutCancel(t.Context()) // a Cleanup's has ended
	for _, u := range users {
		entries, err := b.History(ctx, u, 0, 1<<20)
		is.NoErr(err)
		if len(entries) == 0 {
			continue
		}
		var want imagegen.UsageSums
		first, last := entries[0].Time, entries[0].Time
		for _, e := range entries {
			if e.Time.Before(first) {
				first = e.Time
			}
			if e.Time.After(last) {
				last = e.Time
			}
			switch e.Kind {
			case imagegen.EntryCharge:
				want.Charged -= e.Credits
				want.Generations++
			case imagegen.EntrySettle:
				want.Refunded += e.Credits
				want.Spent += e.Used
				want.Images += e.Images
				switch {
				case e.Cancelled:
					want.Cancelled++
				case e.Used == 0:
					want.Failed++
				}
			}
		}
		for _, by := range [][]imagegen.UsageGroup{nil, imagegen.UsageGroups()} {
			rows, err := b.Usage(ctx, u, imagegen.UsageQuery{From: first, To: last, By: by})
			is.NoErr(err)
			var got imagegen.UsageSums
			for _, row := range rows {
				got = got.Plus(row.UsageSums)
			}
			is.Equal(diff(want, got), "") // what the journal says
		}
	}
}

func day(n int) time.Time { return imagegen.UsageDay(epoch).AddDate(0, 0, n) }

// Each charge counts on its day, for its model and its key, whenever it is settled.
func testUsage(b *creditAdmin) {
	ctx := b.t.Context()
	b.grant(imagegen.Grant{Credits: 100})
	_, err := b.Grant(ctx, imagegen.Grant{User: bob, Credits: 100})
	b.is.NoErr(err)
	charge := func(id imagegen.ChargeID, u imagegen.UserID, credits imagegen.Credits, n int, model string,
		k imagegen.KeyID) {
		b.t.Helper()
		for range 2 { // counts once
			b.is.NoErr(b.Charge(ctx, imagegen.Charge{ID: id, User: u, Credits: credits, N: n, Model: model, Key: k}))
		}
	}
	charge("a", alice, 6, 3, "m", "key_1")
	charge("b", alice, 4, 1, "m", "key_2")
	charge("c", alice, 5, 1, "o", "key_1")
	charge("d", alice, 2, 2, "m", "")
	charge("e", bob, 9, 3, "m", "key_3")
	for range 2 {
		b.settle("a", 4)
	}
	b.pass(24 * time.Hour)
	charge("f", alice, 8, 4, "m", "key_1")
	b.settle("c", 0)
	b.settle("d", 2)
	b.pass(24 * time.Hour)
	b.settle("f", 6)
	b.settle("never charged", 0)

	row := func(day time.Time, model string, k imagegen.KeyID, charged, refunded, spent imagegen.Credits, images,
		generations, failed int) imagegen.Usage {
		return imagegen.Usage{Day: day, Model: model, Key: k, UsageSums: imagegen.UsageSums{Charged: charged,
			Refunded: refunded, Spent: spent, Images: images, Generations: generations, Failed: failed}}
	}
	all := imagegen.UsageGroups()
	for what, c := range map[string]struct {
		q    imagegen.UsageQuery
		want []imagegen.Usage
	}{
		"all apart": {imagegen.UsageQuery{From: day(0), To: day(2), By: all}, []imagegen.Usage{
			row(day(0), "m", "", 2, 0, 2, 2, 1, 0), row(day(0), "m", "key_1", 6, 2, 4, 2, 1, 0),
			row(day(0), "m", "key_2", 4, 0, 0, 0, 1, 0), row(day(0), "o", "key_1", 5, 5, 0, 0, 1, 1),
			row(day(1), "m", "key_1", 8, 2, 6, 3, 1, 0)}},
		"one day": {imagegen.UsageQuery{From: day(1).Add(time.Hour), To: day(1), By: all},
			[]imagegen.Usage{row(day(1), "m", "key_1", 8, 2, 6, 3, 1, 0)}},
		"by day": {imagegen.UsageQuery{From: day(-3), To: day(2), By: []imagegen.UsageGroup{imagegen.UsageByDay}},
			[]imagegen.Usage{
				row(day(0), "", "", 17, 7, 6, 4, 4, 1), row(day(1), "", "", 8, 2, 6, 3, 1, 0)}},
		"by model": {imagegen.UsageQuery{From: day(0), To: day(1), By: []imagegen.UsageGroup{imagegen.UsageByModel}},
			[]imagegen.Usage{
				row(time.Time{}, "m", "", 20, 4, 12, 7, 4, 0), row(time.Time{}, "o", "", 5, 5, 0, 0, 1, 1)}},
		"by key": {imagegen.UsageQuery{From: day(0), To: day(1), By: []imagegen.UsageGroup{imagegen.UsageByKey}},
			[]imagegen.Usage{
				row(time.Time{}, "", "", 2, 0, 2, 2, 1, 0), row(time.Time{}, "", "key_1", 19, 9, 10, 5, 3, 1),
				row(time.Time{}, "", "key_2", 4, 0, 0, 0, 1, 0)}},
		"in all": {imagegen.UsageQuery{From: day(0), To: day(1)},
			[]imagegen.Usage{row(time.Time{}, "", "", 25, 9, 12, 7, 5, 1)}},
		"before":     {imagegen.UsageQuery{From: day(-2), To: day(-1), By: all}, []imagegen.Usage{}},
		"afterwards": {imagegen.UsageQuery{From: day(2), To: day(3)}, []imagegen.Usage{}},
	} {
		got, err := b.Usage(ctx, alice, c.q)
		b.is.NoErr(err)
		if d := diff(c.want, got); d != "" {
			b.t.Errorf("%s: %s", what, d)
		}
	}
	for _, u := range []imagegen.UserID{carol, "", "alice\x00", "alic"} {
		got, err := b.Usage(ctx, u, imagegen.UsageQuery{From: day(0), To: day(1)})
		b.is.NoErr(err)
		b.is.Equal(diff([]imagegen.Usage{}, got), "")
	}

	b.is.Equal(diff(map[imagegen.UserID][]imagegen.Usage{
		alice: {row(day(0), "m", "", 2, 0, 2, 2, 1, 0), row(day(0), "m", "key_1", 6, 2, 4, 2, 1, 0),
			row(day(0), "m", "key_2", 4, 0, 0, 0, 1, 0), row(day(0), "o", "key_1", 5, 5, 0, 0, 1, 1)},
		bob: {row(day(0), "m", "key_3", 9, 0, 0, 0, 1, 0)},
	}, eachUsage(b, day(-1), day(0))), "")
	b.is.Equal(diff(map[imagegen.UserID][]imagegen.Usage{alice: {row(day(1), "m", "key_1", 8, 2, 6, 3, 1, 0)}},
		eachUsage(b, day(1).Add(time.Hour), day(2))), "")
	b.is.Equal(len(eachUsage(b, day(2), day(9))), 0)
	ended, end := context.WithCancel(ctx)
	end()
	err = b.EachUsage(ended, day(0), day(2), func(imagegen.UserID, imagegen.Usage) {
		b.t.Error("the context has ended")
	})
	b.is.True(errors.Is(err, context.Canceled))
	ended, end = context.WithCancel(ctx)
	yielded := 0
	err = b.EachUsage(ended, day(0), day(2), func(imagegen.UserID, imagegen.Usage) { yielded++; end() })
	b.is.True(errors.Is(err, context.Canceled))
	b.is.Equal(yielded, 1) // and not the rest

	for _, c := range []struct {
		user imagegen.UserID
		key  imagegen.KeyID
		want imagegen.KeyUse
	}{
		{alice, "key_1", imagegen.KeyUse{Credits: 10, Monthly: 10}},
		{alice, "key_2", imagegen.KeyUse{Credits: 4, Monthly: 4, Concurrent: 1}},
		{alice, "key_3", imagegen.KeyUse{}}, // bob's
		{bob, "key_3", imagegen.KeyUse{Credits: 9, Monthly: 9, Concurrent: 1}},
		{alice, "key", imagegen.KeyUse{}},
	} {
		got, err := b.KeyUse(ctx, c.user, c.key)
		b.is.NoErr(err)
		b.is.Equal(diff(c.want, got), "")
	}
	b.settle("b", 3)
	use, err := b.KeyUse(ctx, alice, "key_2")
	b.is.NoErr(err)
	b.is.Equal(diff(imagegen.KeyUse{Credits: 3, Monthly: 3}, use), "")
	usageIsJournals(b.t, b.CreditAdmin, alice, bob)
}

// eachUsage is the usage of all users that the ledger lists, in order.
func eachUsage(b *creditAdmin, from, to time.Time) map[imagegen.UserID][]imagegen.Usage {
	b.t.Helper()
	rows := make(map[imagegen.UserID][]imagegen.Usage)
	b.is.NoErr(b.EachUsage(b.t.Context(), from, to, func(u imagegen.UserID, row imagegen.Usage) {
		rows[u] = append(rows[u], row)
	}))
	if w, ok := b.CreditAdmin.(imagegen.UsageWalker); ok {
		walked, last := make(map[imagegen.UserID][]imagegen.Usage), imagegen.UserID("")
		b.is.NoErr(w.EachUsersUsage(b.t.Context(), from, to, func(u imagegen.UserID, row imagegen.Usage) {
			b.is.True(u == last || walked[u] == nil) // all of a user comes together
			walked[u], last = append(walked[u], row), u
		}))
		b.is.Equal(diff(inOrder(rows), inOrder(walked)), "")
	}
	return inOrder(rows)
}

func inOrder(rows map[imagegen.UserID][]imagegen.Usage) map[imagegen.UserID][]imagegen.Usage {
	for u := range rows {
		slices.SortFunc(rows[u], func(a, o imagegen.Usage) int {
			return cmp.Or(a.Day.Compare(o.Day), cmp.Compare(a.Model, o.Model), cmp.Compare(a.Key, o.Key))
		})
	}
	return rows
}

// A charge is kept whatever model and key it is booked under.
func testUnfitBills(b *creditAdmin) {
	b.grant(imagegen.Grant{Credits: 10})
	long := fmt.Sprintf("%0256d", 0)
	for _, c := range []imagegen.Charge{{Model: "a\x00b"}, {Key: "a\x00b"}, {Model: long}, {Key: imagegen.KeyID(long)},
		{N: -1}} {
		c.ID, c.User, c.Credits = "c", alice, 1
		err := b.Charge(b.t.Context(), c)
		b.is.True(errors.Is(err, imagegen.ErrInvalidRequest) && imagegen.Definite(err))
	}
	b.has(alice, 10)
}
