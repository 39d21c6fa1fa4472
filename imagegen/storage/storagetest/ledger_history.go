package storagetest

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Every change of a balance is in the history, and is explained by it.
func testHistory(b *creditAdmin) {
	b.grant(imagegen.Grant{Credits: 10, Ref: "g", Expires: epoch.Add(time.Hour)})
	b.pass(time.Minute)
	_, err := b.Grant(b.t.Context(), imagegen.Grant{User: bob, Credits: 3})
	b.is.NoErr(err)
	b.charge("c", 6)
	b.settle("c", 2)
	_, err = b.revoke(1, "", "r")
	b.is.NoErr(err)
	b.pass(time.Hour)
	b.grant(imagegen.Grant{Credits: 5}) // what has expired is written off before
	all := b.history(0, 100)
	later := epoch.Add(61 * time.Minute)
	want := []imagegen.Entry{
		{Time: later, Kind: imagegen.EntryGrant, Credits: 5, Balance: 5},
		{Time: later, Kind: imagegen.EntryExpire, Credits: -7, Balance: 0},
		{Time: epoch.Add(time.Minute), Kind: imagegen.EntryRevoke, Ref: "r", Credits: -1, Balance: 7},
		{Time: epoch.Add(time.Minute), Kind: imagegen.EntrySettle, Charge: "c", Credits: 4, Used: 2, Balance: 8},
		{Time: epoch.Add(time.Minute), Kind: imagegen.EntryCharge, Charge: "c", Credits: -6, Balance: 4},
		{Time: epoch, Kind: imagegen.EntryGrant, Ref: "g", Credits: 10, Balance: 10},
	}
	for i := range min(len(all), len(want)) {
		b.is.True(i == 0 || all[i].Seq < all[i-1].Seq)
		want[i].User, want[i].Seq = alice, all[i].Seq
	}
	b.is.Equal(diff(want, all), "")

	for i, e := range all {
		b.is.Equal(diff(all[i+1:], b.history(e.Seq, 100)), "")
	}
	b.is.Equal(diff(all[:2], b.history(0, 2)), "")
	b.is.Equal(diff(all[3:5], b.history(all[2].Seq, 2)), "")
}

func testNobodysBooks(b *creditAdmin) {
	b.grant(imagegen.Grant{Credits: 10})
	for _, u := range []imagegen.UserID{bob, "", "alice\x00", "alic", "alice "} {
		b.has(u, 0)
		lots, err := b.Lots(b.t.Context(), u)
		b.is.NoErr(err)
		b.is.Equal(len(lots), 0)
		holdings, err := b.Holdings(b.t.Context(), u, 10)
		b.is.NoErr(err)
		b.is.Equal(diff(imagegen.Holdings{}, holdings), "")
		entries, err := b.History(b.t.Context(), u, 0, 10)
		b.is.NoErr(err)
		b.is.Equal(len(entries), 0)
	}
}
