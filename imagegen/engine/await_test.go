package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// looks counts how often a generation is read.
type looks struct {
	imagegen.TxStore
	n atomic.Int64
}

func (l *looks) Generation(ctx context.Context, id imagegen.GenerationID) (imagegen.Record, error) {
	l.n.Add(1)
	return l.TxStore.Generation(ctx, id)
}

// between makes an engine read through it.
func (l *looks) between(c *engine.Config) {
	c.Images, c.Spool = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool)
	l.TxStore = c.Store.(imagegen.TxStore)
	c.Store = l
}

// The end of work in this process wakes all who wait for it, and nobody polls the store.
func TestAwaitDoesNotPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const took, callers = 50 * time.Second, 64
		store := &looks{}
		h := start(t, slowly(took), store.between)
		id := h.queued(imagegen.GenerateRequest{}).ID
		synctest.Wait()
		began, before := time.Now(), store.n.Load()
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				g, err := h.engine.As(alice).Await(t.Context(), id, time.Hour)
				h.is.NoErr(err)
				h.is.Equal(g.Status, imagegen.StatusSucceeded)
			})
		}
		synctest.Wait()
		g, err := h.engine.As(alice).Await(t.Context(), id, time.Hour) // one too many returns at once
		h.is.NoErr(err)
		h.is.Equal(g.Status, imagegen.StatusProcessing)
		h.is.Equal(time.Since(began), time.Duration(0))
		all.Wait()
		h.is.Equal(time.Since(began), took)
		h.is.True(store.n.Load()-before <= 2*callers+5) // before the wait and after it, and none between
	})
}

// The end is seen though another process brings it about, and costs as much for many callers as for one.
func TestAwaitOfAnotherHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const took, callers = 20 * time.Second, 50
		store := &looks{}
		h := start(t, slowly(took), store.between)
		id := h.queued(imagegen.GenerateRequest{}).ID
		synctest.Wait()
		working := h.engine
		h.restart() // another, beside it
		waiting := h.engine
		began, before := time.Now(), store.n.Load()
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				g, err := waiting.As(alice).Await(t.Context(), id, time.Hour)
				h.is.NoErr(err)
				h.is.Equal(g.Status, imagegen.StatusSucceeded)
			})
		}
		all.Wait()
		h.is.True(time.Since(began) <= took+2*time.Second)
		h.is.True(store.n.Load()-before <= 2*callers+2*int64(took/time.Second))
		h.is.NoErr(working.Stop(t.Context()))
	})
}

// A wait has a longest time, and ends when the service stops or the caller goes.
func TestAwaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, slowly(10*time.Minute))
		id := h.queued(imagegen.GenerateRequest{}).ID
		synctest.Wait()
		began := time.Now()
		g, err := h.engine.As(alice).Await(t.Context(), id, time.Hour)
		h.is.NoErr(err)
		h.is.Equal(g.Status, imagegen.StatusProcessing)
		h.is.Equal(time.Since(began), imagegen.MaxAwait)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = h.engine.As(alice).Await(ctx, id, time.Hour)
		h.is.True(errors.Is(err, context.DeadlineExceeded))

		go func() {
			time.Sleep(time.Second)
			h.engine.Stop(context.Background())
		}()
		began = time.Now()
		g, err = h.engine.As(alice).Await(t.Context(), id, time.Hour)
		h.is.NoErr(err)
		h.is.Equal(g.Status, imagegen.StatusProcessing)
		h.is.Equal(time.Since(began), time.Second)
	})
}

// A wait ends with its key, within a second: also if the generation ends just after it.
func TestAwaitOfAKeyThatEnds(t *testing.T) {
	const took = 10 * time.Second
	for name, c := range map[string]struct {
		keyless, expires bool
		end              func(*harness, imagegen.User, imagegen.KeyID) error
		want             error
	}{
		"revoked": {false, false, func(h *harness, _ imagegen.User, k imagegen.KeyID) error {
			_, err := h.engine.Accounts().RevokeKey(h.Context(), k)
			return err
		}, imagegen.ErrInvalidKey},
		"expired": {false, true, func(*harness, imagegen.User, imagegen.KeyID) error {
			return nil
		}, imagegen.ErrExpiredKey},
		"disabled":                {false, false, disable, imagegen.ErrInvalidKey},
		"disabled, without a key": {true, false, disable, imagegen.ErrInvalidKey},
	} {
		for _, at := range []time.Duration{took / 2, took - time.Millisecond} {
			t.Run(fmt.Sprint(name, " after ", at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := start(t, slowly(took))
					u, err := h.engine.Accounts().CreateUser(t.Context(), "carol", "")
					h.is.NoErr(err)
					_, err = h.db.Grant(t.Context(), imagegen.Grant{User: u.ID, Credits: 10})
					h.is.NoErr(err)
					var expires time.Time
					if c.expires {
						expires = time.Now().Add(at)
					}
					raw, key, err := h.engine.Accounts().MintKey(t.Context(), u.ID, "k", expires)
					h.is.NoErr(err)
					session, err := h.engine.Authenticate(t.Context(), raw.Reveal())
					h.is.NoErr(err)
					if c.keyless {
						session = h.engine.As(u.ID)
					}
					queued, err := session.Generate(t.Context(), fox(imagegen.GenerateRequest{Async: true}))
					h.is.NoErr(err)
					synctest.Wait()
					began := time.Now()
					time.AfterFunc(at, func() { h.is.NoErr(c.end(h, u, key.ID)) })
					g, err := session.Await(t.Context(), queued.ID, time.Minute)
					h.is.True(errors.Is(err, c.want))
					h.is.Equal(g.ID, imagegen.GenerationID(""))
					h.is.True(time.Since(began) <= at+time.Second)
				})
			})
		}
	}
}

func disable(h *harness, u imagegen.User, _ imagegen.KeyID) error {
	return h.engine.Accounts().DisableUser(h.Context(), u.ID)
}
