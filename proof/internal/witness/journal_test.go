package witness_test

import (
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

// A journal that is right is read, and one that is wrong is found out.
func TestReadJournal(t *testing.T) {
	grant := imagegen.Entry{Kind: imagegen.EntryGrant, Credits: 10}
	charge := imagegen.Entry{Kind: imagegen.EntryCharge, Charge: "gen_1", Credits: -4}
	settle := imagegen.Entry{Kind: imagegen.EntrySettle, Charge: "gen_1", Credits: 1, Used: 3}
	expire := imagegen.Entry{Kind: imagegen.EntryExpire, Credits: -7}
	keeps, other := settle, settle
	keeps.Used = 2
	other.Member = "carol"
	for name, c := range map[string]struct {
		entries []imagegen.Entry // the oldest first
		wrong   int
	}{
		"right":                     {[]imagegen.Entry{grant, charge, settle, expire}, 0},
		"charged twice":             {[]imagegen.Entry{grant, charge, charge}, 1},
		"settled twice":             {[]imagegen.Entry{grant, charge, settle, settle}, 1},
		"settled before it is made": {[]imagegen.Entry{grant, settle}, 2},
		"a credit is lost":          {[]imagegen.Entry{grant, charge, keeps}, 1},
		"more than there is":        {[]imagegen.Entry{charge}, 1},
		"settled for another":       {[]imagegen.Entry{grant, charge, other}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			var newest []imagegen.Entry
			for _, e := range c.entries {
				newest = append([]imagegen.Entry{e}, newest...)
			}
			wrong := 0
			a := witness.ReadJournal(newest, func(ok bool, _ string, _ ...any) {
				if !ok {
					wrong++
				}
			})
			is.Equal(wrong, c.wrong)
			if c.wrong == 0 {
				is.Equal(a.Balance, imagegen.Credits(0))
				is.Equal(a.Expired, imagegen.Credits(7))
				is.Equal(a.Charges["gen_1"], witness.Charge{Charge: imagegen.Charge{ID: "gen_1", Credits: 4},
					Closed: true, Used: 3})
			}
		})
	}
}
