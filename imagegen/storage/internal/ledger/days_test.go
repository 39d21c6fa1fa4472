package ledger_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

func TestDays(t *testing.T) {
	for name, home := range stores {
		t.Run(name, func(t *testing.T) { testDays(t, openAt(t, home())) })
	}
}

func testDays(t *testing.T, l *fixture) {
	is := is.New(t)
	now := time.Date(2026, 1, 1, 23, 59, 0, 0, time.UTC)
	l.reopen(func() time.Time { return now })
	for _, u := range []imagegen.UserID{"alice", "alicea"} {
		l.grant(imagegen.Grant{User: u, Credits: 1000})
	}
	spend := func(id imagegen.ChargeID, u imagegen.UserID, charged, used imagegen.Credits) {
		is.NoErr(l.Charge(t.Context(), imagegen.Charge{ID: id, User: u, Credits: charged}))
		is.NoErr(l.Settle(t.Context(), id, used))
		is.NoErr(l.Settle(t.Context(), id, used)) // counts once
	}
	spend("a", "alice", 10, 7)
	spend("b", "alice", 5, 5)
	spend("c", "alicea", 1, 1)
	spend("d", "alice", 5, 0)
	now = now.Add(time.Minute) // midnight
	spend("e", "alice", 3, 3)
	now = now.Add(23 * time.Hour) // a leap, and entries carry the wall clock all the same
	spend("f", "alice", 4, 0)
	now = now.Add(23 * time.Hour)
	spend("g", "alice", 4, 2)

	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		from, to time.Time
		want     []imagegen.Day
	}{
		{first, first.Add(48 * time.Hour), []imagegen.Day{{Date: first, Spent: 12}, {Date: first.Add(24 * time.Hour), Spent: 3}}},
		{first.Add(23 * time.Hour), first.Add(25 * time.Hour), []imagegen.Day{{Date: first, Spent: 12}, {Date: first.Add(24 * time.Hour), Spent: 3}}},
		{first.Add(24 * time.Hour), now.Add(1), []imagegen.Day{{Date: first.Add(24 * time.Hour), Spent: 3}, {Date: first.Add(48 * time.Hour), Spent: 2}}},
		{now.Add(24 * time.Hour), now.Add(48 * time.Hour), nil},
		{time.Time{}, first, nil},
	} {
		got, err := l.Days(t.Context(), "alice", c.from, c.to)
		is.NoErr(err)
		is.Equal(cmp.Diff(c.want, got), "")
	}
	l.sound()
	none, err := l.Days(t.Context(), "", first, now)
	is.NoErr(err)
	is.Equal(len(none), 0)
}
