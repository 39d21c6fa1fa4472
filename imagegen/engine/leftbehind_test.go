package engine_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// beside starts another engine over the same storage, with models of its own.
func (h *harness) beside(models ...engine.Model) *engine.Engine {
	h.Helper()
	cfg := h.cfg
	cfg.Models = models
	e, err := engine.New(cfg)
	h.is.NoErr(err)
	h.is.NoErr(e.Start())
	h.Cleanup(func() { e.Stop(context.Background()) })
	return e
}

// stopNow gives back to the queue what is under way.
func (h *harness) stopNow(e *engine.Engine) {
	h.Helper()
	now, cancel := context.WithCancel(h.Context())
	cancel()
	h.is.NoErr(e.Stop(now))
}

// Each engine over one store makes what it offers, and leaves the rest to the others.
func TestLeftToWhoOffersIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil))
		other := h.beside(offered("m", yieldImages(1, nil), 1), offered("new", yieldImages(1, nil), 1))
		began := time.Now()
		for range 20 {
			g, err := other.As(alice).Generate(t.Context(), fox(imagegen.GenerateRequest{Model: "new", Async: true}))
			h.is.NoErr(err)
			h.is.Equal(h.ended(g.ID).Status, imagegen.StatusSucceeded)
		}
		h.is.True(time.Since(began) < time.Minute)
		h.audit()
	})
}

// Work that no engine offers waits for one that does, and is refunded at its maximum age.
func TestLeftByAll(t *testing.T) {
	for name, test := range map[string]struct {
		again   bool
		want    imagegen.Status
		balance imagegen.Credits
	}{
		"offered again": {true, imagegen.StatusSucceeded, 98},
		"never again":   {false, imagegen.StatusFailed, 100},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := start(t, yieldImages(1, nil), func(c *engine.Config) {
					c.Limits.Concurrency, c.Attempts.MaxAge = 1, time.Hour
				})
				gone := h.beside(offered("new", slowly(time.Minute), 1))
				var ids []imagegen.GenerationID
				for range 2 { // one begins, one waits
					g, err := gone.As(alice).Generate(t.Context(),
						fox(imagegen.GenerateRequest{Model: "new", Async: true}))
					h.is.NoErr(err)
					ids = append(ids, g.ID)
					synctest.Wait()
				}
				h.stopNow(gone)
				time.Sleep(50 * time.Minute)
				h.is.Equal(h.balance(), imagegen.Credits(98))
				if test.again {
					h.is.NoErr(h.setModels(offered("new", yieldImages(1, nil), 1)))
				}
				time.Sleep(12 * time.Minute)
				for _, id := range ids {
					g, err := h.engine.As(alice).Generation(t.Context(), id)
					h.is.NoErr(err)
					h.is.Equal(g.Status, test.want)
				}
				h.is.Equal(h.balance(), test.balance)
				h.audit()
			})
		})
	}
}

// A job is resumed by no upstream but the one that saved it: another would not find it, or make it twice. It waits
// for an engine that asks that one.
func TestJobLeftToItsUpstream(t *testing.T) {
	for name, upstreams := range map[string][]string{"another": {"another account"}, "one of another name": nil} {
		t.Run(name, func(t *testing.T) { jobLeft(t, upstreams) })
	}
}

func jobLeft(t *testing.T, upstreams []string) {
	synctest.Test(t, func(t *testing.T) {
		var log logbook
		saves := func(work time.Duration) imagegen.Provider {
			return &scripted{caps: anything,
				do: func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
					error) bool) {
					if r.Job == nil {
						r.SaveJob(ctx, []byte("job 7"))
					} else if string(r.Job) == "job 7" {
						yield(picture(1024, 1024), nil)
						return
					}
					select {
					case <-time.After(work):
					case <-ctx.Done():
					}
					yield(imagegen.ProviderImage{}, context.Cause(ctx))
				}}
		}
		h := start(t, saves(time.Hour), func(c *engine.Config) {
			c.Models[0].Upstreams = []string{"one account"}
			c.Log = slog.New(slog.NewTextHandler(&log, nil))
		})
		id := h.queued(imagegen.GenerateRequest{}).ID
		synctest.Wait()
		h.stopNow(h.engine)
		stranger := h.beside(offered("m", saves(time.Hour), 1, upstreams...))
		time.Sleep(10 * time.Minute)
		got, err := stranger.As(alice).Generation(t.Context(), id)
		h.is.NoErr(err)
		h.is.True(!got.Status.Terminal())
		h.is.True(strings.Contains(log.String(), "its upstream job was saved by"))
		h.restart()
		h.is.Equal(h.ended(id).Status, imagegen.StatusSucceeded)
		h.is.Equal(h.balance(), imagegen.Credits(99))
		h.audit()
	})
}

// Nodes that share a store ask of an upstream no more, together, than it takes at once.
func TestNodesShareAnUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := 0, 0
		count := func(change int) {
			mu.Lock()
			defer mu.Unlock()
			now += change
			most = max(most, now)
		}
		p := &scripted{caps: anything,
			do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				count(1)
				time.Sleep(time.Second)
				count(-1)
				yield(picture(1024, 1024), nil)
			}}
		h := start(t, p, func(c *engine.Config) { c.Nodes, c.Models[0].MaxConcurrent = 2, 4 })
		h.beside(h.cfg.Models...)
		var ids []imagegen.GenerationID
		for range 20 {
			ids = append(ids, h.queued(imagegen.GenerateRequest{}).ID)
		}
		for _, id := range ids {
			h.is.Equal(h.ended(id).Status, imagegen.StatusSucceeded)
		}
		h.is.Equal(most, 4)
		h.audit()
	})
}
