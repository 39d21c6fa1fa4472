package storagetest

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

func testTrailQuery(r *trail) {
	root := imagegen.Actor{Via: imagegen.ViaCommand, Name: "root"}
	note := func(a imagegen.Actor, act imagegen.Act, target string, user imagegen.UserID) {
		r.is.NoErr(r.Note(r.by(a), imagegen.TrailRow{Act: act, Target: target, User: user, Outcome: imagegen.TrailDone}))
		r.pass(time.Hour)
	}
	note(olivia, "user.create", "usr_1", "usr_1")
	note(root, "key.create", "key_1", "usr_1")
	note(root, "user.set", "usr_2", "usr_2")
	note(root, "users.count", "", "")
	for name, test := range map[string]struct {
		q    imagegen.TrailQuery
		want []uint64
	}{
		"all":               {imagegen.TrailQuery{}, []uint64{4, 3, 2, 1}},
		"by name":           {imagegen.TrailQuery{Actor: "olivia"}, []uint64{1}},
		"by identifier":     {imagegen.TrailQuery{Actor: "usr_o"}, []uint64{1}},
		"by way and name":   {imagegen.TrailQuery{Actor: "command:root"}, []uint64{4, 3, 2}},
		"of another way":    {imagegen.TrailQuery{Actor: "console:root"}, nil},
		"one act":           {imagegen.TrailQuery{Act: "user.set"}, []uint64{3}},
		"acts on a kind":    {imagegen.TrailQuery{Act: "user"}, []uint64{3, 1}},
		"a target":          {imagegen.TrailQuery{Target: "key_1"}, []uint64{2}},
		"what is somebodys": {imagegen.TrailQuery{Target: "usr_1"}, []uint64{2, 1}},
		"since":             {imagegen.TrailQuery{Since: epoch.Add(2 * time.Hour)}, []uint64{4, 3}},
		"before":            {imagegen.TrailQuery{Before: 3}, []uint64{2, 1}},
		"all together":      {imagegen.TrailQuery{Actor: "root", Act: "user", Target: "usr_2", Since: epoch, Before: 4}, []uint64{3}},
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

// testTrailSince: the clock may have been set back meanwhile.
func testTrailSince(r *trail) {
	for _, then := range []time.Duration{3 * time.Hour, -5 * time.Hour, 0} {
		r.is.NoErr(r.Note(r.t.Context(), imagegen.TrailRow{Act: "a.b"}))
		r.pass(then)
	}
	var got []uint64
	for _, row := range r.rows(imagegen.TrailQuery{Since: epoch}) {
		got = append(got, row.Seq)
	}
	r.is.Equal(diff([]uint64{2, 1}, got), "")
}

func testTrailPages(r *trail) {
	for range 5 {
		r.is.NoErr(r.Note(r.t.Context(), imagegen.TrailRow{Act: "a.b"}))
	}
	var got [][]uint64
	for q := (imagegen.TrailQuery{Limit: 2}); ; {
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
	p, err := r.Trail(r.t.Context(), imagegen.TrailQuery{Limit: 5})
	r.is.NoErr(err)
	r.is.Equal(p.Next, uint64(0)) // nothing follows
	for _, limit := range []int{-1, 0, imagegen.MaxTrailPage + 1} {
		_, err := r.Trail(r.t.Context(), imagegen.TrailQuery{Limit: limit})
		r.is.True(err != nil)
	}
}
