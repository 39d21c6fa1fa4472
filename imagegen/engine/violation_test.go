package engine_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// tampered is a store that tells another record than it has.
type tampered struct {
	imagegen.Store
	tell func(imagegen.Record) imagegen.Record
}

func (s tampered) Update(ctx context.Context, f imagegen.Fence, c imagegen.Change) (imagegen.Record, error) {
	r, err := s.Store.Update(ctx, f, c)
	return s.tell(r), err
}

// The engine does not ask an outside ledger to settle what cannot be right: credits stay held, and a later
// recovery settles what is.
func TestUnsoundRecordsAreNotSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		var log logbook
		broken.Store(true)
		h := start(t, yieldImages(2, nil), withOutsideLedger, func(cfg *engine.Config) {
			cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
			cfg.Images, cfg.Spool = cfg.Store.(imagegen.ImageStore), cfg.Store.(imagegen.Spool)
			cfg.Store = tampered{cfg.Store, func(r imagegen.Record) imagegen.Record {
				if r.State == imagegen.StateSettling && broken.Load() {
					r.Images, r.Published = r.Images[:1], 2
				}
				return r
			}}
		})
		_, err := h.generate(imagegen.GenerateRequest{N: 2})
		is := is.New(t)
		is.True(isCode(err, imagegen.ErrInternal))
		is.True(strings.Contains(log.String(), "level=ERROR") && strings.Contains(log.String(), "outcome of gen_"))
		is.Equal(h.balance(), imagegen.Credits(98)) // held
		broken.Store(false)
		e, _ := errors.AsType[*imagegen.Error](err)
		is.Equal(h.ended(e.Generation).Status, imagegen.StatusSucceeded)
		is.Equal(h.balance(), imagegen.Credits(98))
		h.audit()
	})
}

// refusing is a store in which every acceptance would break an invariant.
type refusing struct{ imagegen.TxStore }

func (refusing) CreateCharged(context.Context, imagegen.Record, time.Duration) (imagegen.Record, error) {
	return imagegen.Record{}, imagegen.Violation{Rule: "lot sum", Subject: "lot_1_0"}
}

// A violation is this service's fault: callers are not asked to try again, and learn no more.
func TestViolationsAreInternal(t *testing.T) {
	is := is.New(t)
	h := start(t, yieldImages(1, nil), func(cfg *engine.Config) {
		cfg.Images, cfg.Spool = cfg.Store.(imagegen.ImageStore), cfg.Store.(imagegen.Spool)
		cfg.Store = refusing{cfg.Store.(imagegen.TxStore)}
	})
	_, err := h.generate(imagegen.GenerateRequest{})
	is.True(isCode(err, imagegen.ErrInternal))
	e, _ := errors.AsType[*imagegen.Error](err)
	is.Equal(e.Message, imagegen.ErrInternal.Message)
	v, _ := errors.AsType[imagegen.Violation](err)
	is.Equal(v.Rule, "lot sum") // for the log
}
