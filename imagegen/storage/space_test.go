package storage_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage"
)

func TestSpace(t *testing.T) {
	is := is.New(t)
	s, err := open(t, &storage.Options{MinFree: 12345}).Space()
	is.NoErr(err)
	is.True(s.Free > 0 && s.Total >= s.Free)
	is.Equal(s.Reserve, int64(12345))
}

// Uploads of callers are refused while there is room for all else, and what they take counts at once, not
// only when the disk is looked at again.
func TestUploadsLeaveRoom(t *testing.T) {
	is := is.New(t)
	const mib = 1 << 20
	db := open(t, &storage.Options{MinFree: 64 * mib})
	db.SetFree(140 * mib)
	taken := 0
	for ; taken < 100; taken++ {
		if err := db.TakeSpace(mib); err != nil {
			is.True(errors.Is(err, imagegen.ErrNotApplied))
			break
		}
	}
	is.Equal(taken, 12)
	is.NoErr(db.Ready(t.Context())) // small requests are taken
	is.NoErr(db.Stage(t.Context(), "ref_1", strings.NewReader("an image that was paid for")))
	db.SetFree(60 * mib)
	is.True(db.Ready(t.Context()) != nil)
	is.NoErr(db.Stage(t.Context(), "ref_2", strings.NewReader("an image that was paid for")))
}

// A disk is warned of before it is full, and named as the reason once no work is taken.
func TestReadinessOfTheDisk(t *testing.T) {
	s, err := open(t, nil).Space()
	is.New(t).NoErr(err)
	disk := []string{"disk"}
	for name, test := range map[string]struct {
		reserve           int64
		reasons, warnings []string
	}{
		"room":        {1, nil, nil},
		"nearly full": {s.Free / 4, nil, disk},
		"full":        {2 * s.Total, disk, disk},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			db := open(t, &storage.Options{MinFree: test.reserve})
			service, err := engine.New(engine.Config{Store: db, Ledger: db})
			is.NoErr(err)
			is.NoErr(service.Start())
			defer service.Stop(t.Context())
			r := service.Readiness(t.Context())
			is.Equal(codes(r.Reasons), test.reasons)
			is.Equal(codes(r.Warnings), test.warnings)
		})
	}
}

func codes(notices []imagegen.Notice) (all []string) {
	for _, n := range notices {
		all = append(all, n.Code)
	}
	return all
}
