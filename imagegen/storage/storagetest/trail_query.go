package storagetest

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

func testTrailQuery(r *trail) {
	root := account.Actor{Via: account.ViaCommand, Name: "root"}
	note := func(a account.Actor, act account.Act, target string, user imagegen.UserID) {
		r.is.NoErr(r.Note(r.by(a), account.TrailRow{Act: act, Target: target, User: user, Outcome: account.TrailDone}))
		r.pass(time.Hour)
	}
	note(olivia, "user.create", "usr_1", "usr_1")
	note(root, "key.create", "key_1", "usr_1")
	note(root, "user.set", "usr_2", "usr_2")
	note(root, "users.count", "", "")
	for name, test := range map[string]struct {
		q    account.TrailQuery
		want []uint64
	}{
		"all":               {account.TrailQuery{}, []uint64{4, 3, 2, 1}},
		"by name":           {account.TrailQuery{Actor: "olivia"}, []uint64{1}},
		"by identifier":     {account.TrailQuery{Actor: "usr_o"}, []uint64{1}},
		"by way and name":   {account.TrailQuery{Actor: "command:root"}, []uint64{4, 3, 2}},
		"of another way":    {account.TrailQuery{Actor: "console:root"}, nil},
		"one act":           {account.TrailQuery{Act: "user.set"}, []uint64{3}},
		"acts on a kind":    {account.TrailQuery{Act: "user"}, []uint64{3, 1}},
		"a target":          {account.TrailQuery{Targets: []string{"key_1"}}, []uint64{2}},
		"what is somebodys": {account.TrailQuery{Targets: []string{"usr_1"}}, []uint64{2, 1}},
		"one of two":        {account.TrailQuery{Targets: []string{"key_1", "usr_2"}}, []uint64{3, 2}},
		"since":             {account.TrailQuery{Since: epoch.Add(2 * time.Hour)}, []uint64{4, 3}},
		"before":            {account.TrailQuery{Before: 3}, []uint64{2, 1}},
		"all together": {account.TrailQuery{Actor: "root", Act: "user", Targets: []string{"usr_2"}, Since: epoch,
			Before: 4}, []uint64{3}},
	} {
		r.t.Run(name, func(t *testing.T) {
			var got []uint64
			for _, row := range r.rows(test.q) {
				got = append(got, row.Seq)
			}
			is.New(t).Equal(diff(test.want, got), "")
		})
	}
}

// testTrailSince: a leap of the clock dates no row.
func testTrailSince(r *trail) {
	for _, then := range []time.Duration{3 * time.Hour, -5 * time.Hour, 0} {
		r.is.NoErr(r.Note(r.t.Context(), account.TrailRow{Act: "a.b"}))
		r.pass(then)
	}
	r.is.Equal(len(r.rows(account.TrailQuery{Since: epoch})), 3)
	r.is.Equal(len(r.rows(account.TrailQuery{Since: epoch.Add(time.Hour)})), 0)
}

func testTrailPages(r *trail) {
	for range 5 {
		r.is.NoErr(r.Note(r.t.Context(), account.TrailRow{Act: "a.b"}))
	}
	var got [][]uint64
	for q := (account.TrailQuery{Limit: 2}); ; {
		p, err := r.Trail(r.t.Context(), q)
		r.is.NoErr(err)
		var page []uint64
		for _, row := range p.Rows {
			page = append(page, row.Seq)
		}
		if got = append(got, page); p.Next == 0 {
			break
		}
		q.Before = p.Next
	}
	r.is.Equal(diff([][]uint64{{5, 4}, {3, 2}, {1}}, got), "")
	p, err := r.Trail(r.t.Context(), account.TrailQuery{Limit: 5})
	r.is.NoErr(err)
	r.is.Equal(p.Next, uint64(0)) // nothing follows
	for _, limit := range []int{-1, 0, account.MaxTrailPage + 1} {
		_, err := r.Trail(r.t.Context(), account.TrailQuery{Limit: limit})
		r.is.True(err != nil)
	}
}
