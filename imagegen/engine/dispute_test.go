package engine_test

import (
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

// disputed are the generations in dispute.
func (h *harness) disputed() []imagegen.Record {
	h.Helper()
	rs, total, err := h.db.Disputed(context.Background(), "", 10)
	h.is.NoErr(err)
	h.is.Equal(len(rs), total)
	return rs
}

// What the ledger refuses to settle for good ends all the same: its owner sees the images and what they
// cost, or that it failed; the open charge is an operator's, who settles or refunds it.
func TestSettlementRefusedForGood(t *testing.T) {
	for _, refusal := range []error{imagegen.ChargeRefused("the account is closed"), imagegen.ErrChargeConflict,
		imagegen.ErrNotFound} {
		for _, how := range []engine.Resolution{{}, {Refund: true}} {
			for _, images := range []int{0, 1} {
				synctest.Test(t, func(t *testing.T) {
					is := is.New(t)
					var log logbook
					f := startFaulty(t, yieldImages(images, nil), func(c *engine.Config) {
						c.Log = slog.New(slog.NewTextHandler(&log, nil))
					})
					f.failBefore(first(2, "Settle", refusal))
					result, err := f.generate(imagegen.GenerateRequest{N: 2, IdempotencyKey: "k"})
					id, want := result.Generation.ID, imagegen.Credits(images)
					if images == 0 {
						failed, _ := errors.AsType[*imagegen.Error](err)
						is.Equal(failed.Code, imagegen.CodeGenerationFailed)
						id = failed.Generation
					} else {
						is.NoErr(err)
						is.Equal(result.Balance.Credits, imagegen.Credits(98)) // as the ledger has it
					}
					g, err := f.engine.As(alice).Generation(t.Context(), id)
					is.NoErr(err)
					is.True(g.Status.Terminal())
					is.Equal(len(g.Images), images)
					is.Equal(g.Credits, want)
					is.True(strings.Contains(log.String(), "has to resolve it") && strings.Contains(log.String(),
						string(id)))
					is.Equal(f.count("Settle"), 1) // nobody asks in vain
					is.Equal(len(f.disputed()), 1)
					is.Equal(f.balance(), imagegen.Credits(98)) // held
					f.audit()

					_, err = f.engine.Resolve(t.Context(), id, how)
					// and if it refuses again, nothing has changed
					is.True(errors.Is(err, refusal) || refusal == imagegen.ErrNotFound)
					if err != nil {
						is.Equal(len(f.disputed()), 1)
						_, err = f.engine.Resolve(t.Context(), id, how)
						is.NoErr(err)
					}
					is.Equal(len(f.disputed()), 0)
					if how.Refund {
						want = 0
					}
					is.Equal(f.balance(), 100-want)
					_, err = f.engine.Resolve(t.Context(), id, how)
					is.True(isCode(err, imagegen.ErrInvalidRequest)) // there is nothing to resolve
					g, err = f.engine.As(alice).Generation(t.Context(), id)
					is.NoErr(err)
					is.Equal(g.Credits, want)
					f.settled()
				})
			}
		}
	}
}

// A refusal that recovery meets ends in the same way, also of a charge that was never accepted.
func TestRecoveryRefusedForGood(t *testing.T) {
	for name, step := range map[string]string{"settling": "Outcome", "charging": "Accept"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				f := startFaulty(t, yieldImages(1, nil))
				f.failAfter(func(call string, n int, by imagegen.Fence) error {
					if call == "Charge" && step == "Accept" {
						return errDoubt
					}
					return nil
				})
				f.failBefore(func(call string, n int, by imagegen.Fence) error {
					switch {
					case call == "Settle" && n == 1:
						return errDoubt // so that recovery has to
					case call == "Settle" && n == 2:
						return imagegen.ErrChargeConflict
					}
					return nil
				})
				_, err := f.generate(imagegen.GenerateRequest{})
				is.True(isCode(err, imagegen.ErrInternal))
				time.Sleep(10 * time.Minute)
				is.Equal(f.count("Settle"), 2)
				rs := f.disputed()
				is.Equal(len(rs), 1)
				is.True(rs[0].Terminal())
				is.Equal(rs[0].State == imagegen.StateFailed, step == "Accept")
				_, err = f.engine.Resolve(t.Context(), rs[0].ID, engine.Resolution{})
				is.NoErr(err)
				f.settled()
			})
		})
	}
}

// A dispute that could not be written down is not lost: the next recovery meets the same refusal.
func TestDisputeThatIsNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil))
		f.failAfter(first(1, "Charge", errDoubt))
		f.failBefore(failing(first(1, "Settle", errDoubt), func(call string, n int, _ imagegen.Fence) error {
			switch {
			case call == "Settle" && n <= 3:
				return imagegen.ErrChargeConflict
			case call == "Dispute" && n == 1:
				return imagegen.ErrNotApplied
			}
			return nil
		}))
		_, err := f.generate(imagegen.GenerateRequest{})
		f.is.True(isCode(err, imagegen.ErrInternal))
		time.Sleep(10 * time.Minute)
		f.is.Equal(f.count("Dispute"), 2)
		f.is.Equal(f.count("Settle"), 3)
		f.is.Equal(f.disputed()[0].State, imagegen.StateFailed)
		_, err = f.engine.Resolve(t.Context(), f.disputed()[0].ID, engine.Resolution{})
		f.is.NoErr(err)
		f.settled()
	})
}

// A ledger that has closed the account tells no balance either: the images are handed out without one.
func TestNoBalanceToTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil))
		refuse := imagegen.ChargeRefused("the account is closed")
		f.failBefore(failing(first(1, "Settle", refuse), func(call string, n int, _ imagegen.Fence) error {
			if call == "Balance" {
				return refuse
			}
			return nil
		}))
		result, err := f.generate(imagegen.GenerateRequest{})
		f.is.NoErr(err)
		f.is.Equal(len(result.Images), 1)
		f.is.True(result.Balance == nil)
		f.is.Equal(len(f.disputed()), 1)
		f.failBefore(nil)
		_, err = f.engine.Resolve(t.Context(), result.Generation.ID, engine.Resolution{})
		f.is.NoErr(err)
		f.settled()
	})
}

// Where neither the charge nor its undoing is to be had, there was no charge: nothing is in dispute.
func TestNothingToDispute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil))
		refuse := imagegen.ChargeRefused("the account is suspended")
		f.failBefore(failing(first(1, "Charge", refuse), first(1, "Settle", refuse)))
		_, err := f.generate(imagegen.GenerateRequest{})
		f.is.True(isCode(err, imagegen.ErrChargeRefused))
		f.is.Equal(len(f.settled()), 0)
		f.is.Equal(len(f.disputed()), 0)
	})
}

// A charge that was closed by hand is resolved without asking the ledger.
func TestResolveByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil))
		f.failBefore(first(1000, "Settle", imagegen.ErrChargeConflict))
		result, err := f.generate(imagegen.GenerateRequest{})
		f.is.NoErr(err)
		id := result.Generation.ID
		_, err = f.engine.Resolve(t.Context(), id, engine.Resolution{})
		f.is.True(errors.Is(err, imagegen.ErrChargeConflict))
		f.is.NoErr(f.db.Settle(t.Context(), imagegen.ChargeID(id), 0)) // by hand
		r, err := f.engine.Resolve(t.Context(), id, engine.Resolution{Refund: true, ByHand: true})
		f.is.NoErr(err)
		f.is.True(r.Refunded)
		f.settled()
	})
}

// A dispute outlasts the erasure of its generation, and can be resolved after it.
func TestDisputeOfWhatWasErased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil))
		f.failBefore(first(1, "Settle", imagegen.ErrChargeConflict))
		result, err := f.generate(imagegen.GenerateRequest{})
		f.is.NoErr(err)
		f.is.NoErr(f.engine.Erase(t.Context(), result.Generation.ID))
		f.is.Equal(len(f.disputed()), 1)
		f.audit()
		_, err = f.engine.Resolve(t.Context(), result.Generation.ID, engine.Resolution{Refund: true})
		f.is.NoErr(err)
		f.is.Equal(len(f.disputed()), 0)
		f.is.Equal(f.balance(), imagegen.Credits(100))
		f.audit()
	})
}

// Work that was charged in one ledger and ends under another is not worked on for ever, whichever of the two
// is the store's own; what failed is not even in dispute.
func TestWorkMovesToAnotherLedger(t *testing.T) {
	for name, from := range map[string]bool{"from the store's own": true, "to the store's own": false} {
		t.Run(name, func(t *testing.T) {
			for _, images := range []int{0, 1} {
				synctest.Test(t, func(t *testing.T) {
					is := is.New(t)
					other := memory.New(nil)
					_, err := other.Grant(t.Context(), imagegen.Grant{User: alice, Credits: 100})
					is.NoErr(err)
					ledgers := []imagegen.Ledger{nil, outside{other}} // nil: the store itself
					if !from {
						ledgers[0], ledgers[1] = ledgers[1], ledgers[0]
					}
					h := start(t, waits(), func(c *engine.Config) {
						if !from {
							c.Ledger = ledgers[0]
						}
					})
					r, err := h.generate(imagegen.GenerateRequest{Async: true})
					is.NoErr(err)
					synctest.Wait()
					now, cancel := context.WithCancel(t.Context())
					cancel()
					is.NoErr(h.engine.Stop(now)) // it goes back to the queue
					if h.cfg.Ledger = ledgers[1]; h.cfg.Ledger == nil {
						h.cfg.Ledger = h.db
					}
					h.cfg.Models[0].Provider = yieldImages(images, nil)
					h.restart()
					g := h.ended(r.Generation.ID)
					is.Equal(len(g.Images), images)
					h.audit()
					disputed := h.disputed()
					if images == 0 && !from {
						is.Equal(len(disputed), 0) // to void what it does not know is easy
						return
					}
					is.Equal(len(disputed), 1)
					// the charge is open in the store's own books: it is resolved there
					if h.cfg.Ledger != imagegen.Ledger(h.db) {
						is.NoErr(h.engine.Stop(now))
						h.cfg.Ledger = h.db
						h.restart()
					}
					_, err = h.engine.Resolve(t.Context(), g.ID, engine.Resolution{})
					is.NoErr(err)
					is.Equal(len(h.disputed()), 0)
					is.Equal(h.balance(), imagegen.Credits(100-images))
					h.audit()
				})
			}
		})
	}
}

// waits makes a provider that yields nothing before its context ends.
func waits() *scripted {
	return &scripted{caps: anything,
		do: func(ctx context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			<-ctx.Done()
			yield(imagegen.ProviderImage{}, context.Cause(ctx))
		}}
}
