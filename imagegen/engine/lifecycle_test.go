package engine_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// An engine takes work from Start to Stop, and neither before nor after.
func TestWorkIsTakenFromStartToStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := memory.New(nil)
		service, err := engine.New(engine.Config{Store: db, Ledger: db,
			Models: []engine.Model{{ID: "m", Provider: yieldImages(1, nil),
				Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1}}}})
		is.NoErr(err)
		_, err = db.Grant(t.Context(), imagegen.Grant{User: alice, Credits: 3})
		is.NoErr(err)
		generate := func() error {
			_, err := service.As(alice).Generate(t.Context(), fox(imagegen.GenerateRequest{}))
			return err
		}
		is.True(isCode(generate(), imagegen.ErrOverloaded))
		is.NoErr(service.Start())
		is.NoErr(service.Start())
		is.NoErr(generate())
		is.NoErr(service.Stop(t.Context()))
		is.NoErr(service.Stop(t.Context()))
		is.True(isCode(generate(), imagegen.ErrOverloaded))
		is.True(errors.Is(service.Start(), imagegen.ErrStopping))
		b, err := service.As(alice).Balance(t.Context())
		is.NoErr(err)
		is.Equal(b.Credits, imagegen.Credits(2))
	})
}

// A configuration with which an engine would not work is refused, and all that is wrong is named at once.
func TestConfigThatCannotWork(t *testing.T) {
	is := is.New(t)
	db := memory.New(nil)
	_, err := engine.New(engine.Config{Store: db, Ledger: db, Attempts: engine.Attempts{Lease: 30},
		Limits: engine.Limits{MaxSpooled: -1}, Retention: engine.Retention{Generations: time.Hour}})
	is.True(err != nil)
	for _, wrong := range []string{"Config.Attempts.Lease is 30ns; it is at least 1s", "Config.Limits",
		"Config.Retention.Generations"} {
		is.True(strings.Contains(err.Error(), wrong))
	}
}

// Without a model on offer, the answer says so.
func TestNoModelOnOffer(t *testing.T) {
	h := start(t, yieldImages(1, nil), func(c *engine.Config) { c.Models = nil })
	_, err := h.generate(imagegen.GenerateRequest{})
	e, ok := errors.AsType[*imagegen.Error](err)
	h.is.True(ok && strings.HasSuffix(e.Message, "offered: none at present"))
}

// Stop returns an error when work does not end. That work is finished all the same.
func TestStopDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil), func(cfg *engine.Config) { cfg.Attempts.Grace = time.Second })
		writing := make(chan struct{})
		f.failBefore(func(call string, _ int, _ imagegen.Fence) error {
			if call == "Outcome" {
				close(writing)
				time.Sleep(20 * time.Second)
			}
			return nil
		})
		answered := make(chan error, 1)
		go func() {
			_, err := f.engine.As(alice).Generate(context.Background(), fox(imagegen.GenerateRequest{}))
			answered <- err
		}()
		<-writing
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		f.is.True(f.engine.Stop(ctx) != nil)
		f.is.NoErr(<-answered)
		f.is.Equal(f.settled()[0].State, imagegen.StateSucceeded)
	})
}

// Stop ends what the engine does in no hurry, which is not a failure.
func TestStopIsNoWarning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		h := start(t, yieldImages(1, nil), func(c *engine.Config) {
			c.Limits.FairShares, c.Log = true, slog.New(slog.NewTextHandler(&log, nil))
		})
		synctest.Wait()
		h.is.NoErr(h.engine.Stop(t.Context()))
		h.is.Equal(log.String(), "")
	})
}

// A caller learns that the outcome is unknown as soon as the engine ends at once, as when its storage has failed
// for good.
func TestStopAtOnceBesideAStoreThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &faults{}
		h := start(t, yieldImages(1, nil), f.use, withOutsideLedger)
		f.failBefore(func(call string, n int, _ imagegen.Fence) error {
			switch {
			case call != "Outcome":
				return nil
			case n == 1:
				return errDoubt
			}
			return imagegen.ErrNotApplied
		})
		answered := make(chan error, 1)
		go func() {
			_, err := h.generate(imagegen.GenerateRequest{})
			answered <- err
		}()
		time.Sleep(100 * time.Millisecond) // the repetition was refused
		began := time.Now()
		now, cancel := context.WithCancel(t.Context())
		cancel()
		h.is.NoErr(h.engine.Stop(now))
		h.is.True(strings.Contains((<-answered).Error(), "outcome unknown"))
		h.is.True(time.Since(began) < 500*time.Millisecond)
	})
}
