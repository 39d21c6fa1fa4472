package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// hung is a store that does what its first Create or CreateCharged asks, but answers only after a while,
// and that it does not know.
type hung struct {
	imagegen.TxStore
	away time.Duration
	once *bool
}

func (s hung) hang(got imagegen.Record, err error) (imagegen.Record, error) {
	if *s.once {
		return got, err
	}
	*s.once = true
	time.Sleep(s.away)
	return imagegen.Record{}, errDoubt
}

func (s hung) Create(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	return s.hang(s.TxStore.Create(ctx, r, lease))
}

func (s hung) CreateCharged(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	return s.hang(s.TxStore.CreateCharged(ctx, r, lease))
}

// Update gives a race between recovery and a caller the time to be lost.
func (s hung) Update(ctx context.Context, f imagegen.Fence, c imagegen.Change) (imagegen.Record, error) {
	if _, ok := c.(imagegen.AbandonChange); ok {
		time.Sleep(20 * time.Millisecond)
	}
	return s.TxStore.Update(ctx, f, c)
}

// lateSettle is a ledger that settles nothing before a moment.
type lateSettle struct {
	imagegen.Ledger
	from time.Time
}

func (l lateSettle) Settle(ctx context.Context, id imagegen.ChargeID, used imagegen.Credits) error {
	time.Sleep(time.Until(l.from))
	return l.Ledger.Settle(ctx, id, used)
}

// counting is a provider that counts its calls.
func counting(calls *int) *scripted {
	return &scripted{caps: anything,
		do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			*calls++
			yield(picture(1024, 1024), nil)
		}}
}

// A repeated Create finds a record that recovery has taken over, and leaves it alone: with recovery's
// fence the work would be done on a charge that is closed.
func TestRepeatedCreateIsOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const away = 40 * time.Second
		calls := 0
		h := start(t, counting(&calls), func(c *engine.Config) {
			c.Images, c.Spool = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool)
			c.Ledger = lateSettle{c.Ledger, time.Now().Add(away + 51*time.Millisecond)}
		})
		h.cfg.Store = cutOff{hung{h.cfg.Store.(imagegen.TxStore), away, new(bool)}, time.Now().Add(away)}
		h.restart() // another host
		_, err := h.generate(imagegen.GenerateRequest{Async: true})
		h.is.True(isCode(err, imagegen.ErrInternal)) // the outcome is unknown
		time.Sleep(time.Hour)
		h.is.Equal(calls, 0)
		h.is.Equal(h.balance(), imagegen.Credits(100))
		h.audit()
	})
}

// A repeated CreateCharged finds a generation that another host has recovered, failed and refunded: no
// provider is called for it.
func TestRepeatedCreateChargedIsOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		h := start(t, counting(&calls), func(c *engine.Config) {
			c.Images, c.Spool = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool)
		})
		h.cfg.Store = cutOff{hung{h.cfg.Store.(imagegen.TxStore), time.Minute, new(bool)},
			time.Now().Add(time.Minute)}
		h.restart() // another host
		_, err := h.generate(imagegen.GenerateRequest{})
		h.is.True(isCode(err, imagegen.ErrInternal))
		h.is.Equal(calls, 0)
		h.is.Equal(h.balance(), imagegen.Credits(100))
		h.audit()
	})
}

// cutOff is a store that a host cannot ask for abandoned work, nor prolong its own, until a moment.
type cutOff struct {
	hung
	until time.Time
}

func (s cutOff) Extend(ctx context.Context, lease time.Duration, fences ...imagegen.Fence) ([]imagegen.Fence, error) {
	if time.Now().Before(s.until) {
		return nil, errDoubt
	}
	return s.TxStore.Extend(ctx, lease, fences...)
}

func (s cutOff) Recover(ctx context.Context, n int, lease time.Duration) ([]imagegen.Record, error) {
	if time.Now().Before(s.until) {
		return nil, errDoubt
	}
	return s.TxStore.Recover(ctx, n, lease)
}

// slowExtend is a store whose Extend takes effect at once and answers later, and whose commits take
// a while.
type slowExtend struct {
	imagegen.TxStore
	takes time.Duration
}

func (s slowExtend) Extend(ctx context.Context, lease time.Duration,
	fences ...imagegen.Fence) ([]imagegen.Fence, error) {
	lost, err := s.TxStore.Extend(ctx, lease, fences...)
	time.Sleep(s.takes)
	return lost, err
}

func (s slowExtend) CreateCharged(ctx context.Context, r imagegen.Record,
	lease time.Duration) (imagegen.Record, error) {
	time.Sleep(s.takes)
	return s.TxStore.CreateCharged(ctx, r, lease)
}

// A fence that was not yet recorded when the leases were prolonged has not been lost.
func TestLeaseOfWhatIsYetToBeRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const takes = 4 * time.Millisecond
		h := start(t, &scripted{caps: anything,
			do: func(ctx context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				select {
				case <-ctx.Done():
					yield(imagegen.ProviderImage{}, context.Cause(ctx))
				case <-time.After(time.Second):
					yield(picture(1024, 1024), nil)
				}
			}}, func(c *engine.Config) {
			c.Images, c.Spool = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool)
			c.Store = slowExtend{c.Store.(imagegen.TxStore), takes}
		})
		time.Sleep(10*time.Second - takes/2) // leases are prolonged every third of 30 s
		_, err := h.generate(imagegen.GenerateRequest{})
		h.is.NoErr(err)
		h.audit()
	})
}
