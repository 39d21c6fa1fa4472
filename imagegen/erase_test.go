package imagegen_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// An erasure removes what every attempt has left, not only the last: files whose removal failed when
// they were given up are found by nobody else.
func TestErasureCoversEveryAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := startFaulty(t, yieldImages(1, nil))
		is.NoErr(f.engine.Stop(t.Context()))
		r, err := f.db.CreateCharged(t.Context(), abandoned(1), 0)
		is.NoErr(err)
		const attempts = 5
		var left []imagegen.ImageKey
		for n := 1; n <= attempts; n++ {
			f.update(r.Fence(), imagegen.Claim{})
			r.Attempt++
			k := imagegen.ImageKey{Generation: r.ID, Attempt: n, Image: imagegen.ImageID("image_" + string(r.ID[4:]) + strings.Repeat("0", 26))}
			is.NoErr(f.db.PutImage(t.Context(), k, readerOf(pngOf(64, 64))))
			left = append(left, k)
			if n < attempts {
				f.update(r.Fence(), imagegen.Release{})
			}
		}
		_, err = f.db.FinishSettled(t.Context(), r.Fence(), imagegen.Outcome{At: r.CreatedAt})
		is.NoErr(err)
		is.NoErr(f.engine.Erase(t.Context(), r.ID))
		for _, k := range left {
			is.True(!f.has(k))
		}
		f.audit()
	})
}
