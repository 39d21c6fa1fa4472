package storagetest

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

func testFailedSignIns(r *trail) {
	home, away := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("2001:db8::/64")
	ctx := r.by(account.Actor{Via: account.ViaConsole, Address: "192.0.2.1"})
	fail := func(u imagegen.UserID, from netip.Prefix, n int) {
		for range n {
			r.is.NoErr(r.SignInFailed(ctx, u, from))
		}
	}
	counted := func() (counts []string) {
		for _, row := range r.rows(account.TrailQuery{Act: "user.signin_failed"}) {
			r.is.Equal(row.Outcome, account.TrailRefused)
			r.is.Equal(row.Actor.Via, account.ViaConsole)
			counts = append(counts, fmt.Sprintf("%s %s %d", row.Target, row.Actor.Address, row.Count))
		}
		return counts
	}
	fail(alice, home, 3)
	fail(alice, away, 1)
	fail("", home, 1) // a name that is nobody's
	want := []string{" 192.0.2.1/32 1", "alice 2001:db8::/64 1", "alice 192.0.2.1/32 1"}
	r.is.Equal(diff(want, counted()), "") // the first of each is there at once
	r.pass(time.Minute)
	want = append([]string{"alice 192.0.2.1/32 2"}, want...)
	r.is.Equal(diff(want, counted()), "") // further ones when their minute is over
	r.is.Equal(diff(want, counted()), "")
	fail(alice, home, 4) // in a minute that has its row
	r.is.Equal(diff(want, counted()), "")
	r.pass(time.Minute)
	r.is.NoErr(r.TidyTrail(r.t.Context(), time.Time{}))
	want = append([]string{"alice 192.0.2.1/32 4"}, want...)
	r.is.Equal(diff(want, counted()), "")
	r.pass(time.Minute)
	r.is.Equal(diff(want, counted()), "") // nothing to tell
	fail(alice, home, 1)
	r.is.Equal(diff(append([]string{"alice 192.0.2.1/32 1"}, want...), counted()), "")
}

// Guesses from many addresses leave a bounded number of rows.
func testManyFailedSignIns(r *trail) {
	fail := func(from, to int) {
		for i := from; i < to; i++ {
			r.is.NoErr(r.SignInFailed(r.t.Context(), alice,
				netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 32)))
		}
	}
	fail(0, 1500)
	r.is.Equal(len(r.rows(account.TrailQuery{})), 1001)
	r.pass(time.Minute)
	rows := r.rows(account.TrailQuery{})
	r.is.Equal(len(rows), 1002)
	r.is.Equal(rows[0].Actor, account.Actor{}) // of the others together
	r.is.Equal(rows[0].Count, 499)
	fail(0, 2000)
	r.pass(time.Minute)
	sum := 0
	for _, row := range r.rows(account.TrailQuery{}) {
		sum += row.Count
	}
	r.is.Equal(sum, 3500)
	r.is.True(len(r.rows(account.TrailQuery{})) <= 2*1002)
}

func testTidyTrail(r *trail) {
	for i := range 2500 {
		r.is.NoErr(r.Note(r.t.Context(), account.TrailRow{Act: "a.b", After: fmt.Sprint(i)}))
		if i == 1200 {
			r.pass(time.Hour)
		}
	}
	first := func() uint64 { rows := r.rows(account.TrailQuery{}); return rows[len(rows)-1].Seq }
	r.is.NoErr(r.TidyTrail(r.t.Context(), epoch))
	r.is.Equal(first(), uint64(1))
	for range 2 {
		r.is.NoErr(r.TidyTrail(r.t.Context(), epoch.Add(time.Minute)))
		r.is.Equal(first(), uint64(1202))
	}
	r.is.NoErr(r.TidyTrail(r.t.Context(), epoch.Add(2*time.Hour)))
	r.is.Equal(len(r.rows(account.TrailQuery{})), 0)
	r.is.NoErr(r.Note(r.t.Context(), account.TrailRow{Act: "a.b"}))
	r.is.Equal(first(), uint64(2501)) // it goes on where it was
}

// An act whose context has ended leaves neither a change nor a row.
func testTrailEndedContext(r *trail) {
	ctx, cancel := context.WithCancel(r.t.Context())
	cancel()
	r.is.True(r.Note(ctx, account.TrailRow{Act: "a.b"}) != nil)
	r.is.True(r.CreateUser(ctx, imagegen.User{ID: "usr_1", Name: "alice"}) != nil)
	_, err := r.Trail(ctx, account.TrailQuery{Limit: 1})
	r.is.True(err != nil)
	r.is.Equal(len(r.rows(account.TrailQuery{})), 0)
}
