package engine_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// The log has what keeps images from being delivered: an attempt that is made again, and work
// that is given up without one.
func TestLogOfWhatWasNotDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logbook
		h := start(t, &scripted{caps: anything,
			do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				yield(imagegen.ProviderImage{}, transient(1))
			}}, func(c *engine.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		g, err := h.generate(imagegen.GenerateRequest{Async: true})
		h.is.NoErr(err)
		h.is.Equal(h.ended(g.ID).Status, imagegen.StatusFailed)
		synctest.Wait()
		h.is.Equal(strings.Count(log.String(), "an attempt failed and will be made again"), 2)
		h.is.Equal(strings.Count(log.String(), "images were not delivered"), 1)

		g, err = h.generate(imagegen.GenerateRequest{Async: true})
		h.is.NoErr(err)
		synctest.Wait() // until it is due again
		h.is.NoErr(h.engine.Stop(t.Context()))
		log.Reset()
		h.cfg.Models[0].ID = "other"
		h.restart()
		time.Sleep(25 * time.Hour)
		synctest.Wait()
		h.is.True(strings.Contains(log.String(), "images were not delivered") && strings.Contains(log.String(),
			"maximum age") &&
			strings.Contains(log.String(), string(g.ID)))
	})
}

// A provider may say as much as it likes: what is kept and logged of it is bounded, and still text.
func TestFailureDetailIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var log logbook
		much := errors.New(strings.Repeat("狐", 10<<20))
		h := start(t, yieldImages(0, much), func(c *engine.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		_, err := h.generate(imagegen.GenerateRequest{})
		failed, _ := errors.AsType[*imagegen.Error](err)
		r, err := h.engine.Record(t.Context(), failed.Generation)
		is.NoErr(err)
		is.True(len(r.Failure.Detail) <= imagegen.MaxDetail)
		is.True(utf8.ValidString(r.Failure.Detail) && strings.HasSuffix(r.Failure.Detail, "狐…"))
		is.True(len(log.String()) < 2*imagegen.MaxDetail)
	})
}
