package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// as ended before.
func TestCompletedWhenItIsSettled(t *testing.T) {
	for name, async := range map[string]bool{"synchronous": false, "asynchronous": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := startFaulty(t, yieldImages(1, nil), withTries(3))
				f.failBefore(func(call string, _ int, _ imagegen.Fence) error {
					if call == "Settle" {
						time.Sleep(3 * time.Second)
					}
					return nil
				})
				began := time.Now()
				g, err := f.generate(imagegen.GenerateRequest{Async: async})
				f.is.NoErr(err)
				ended := f.ended(g.ID)
				f.is.Equal(ended.CompletedAt.Sub(began), 3*time.Second)
				f.is.True(!time.Now().Before(ended.CompletedAt))
				f.is.True(ended.Images[0].CreatedAt.Before(ended.CompletedAt))
			})
		})
	}
}
