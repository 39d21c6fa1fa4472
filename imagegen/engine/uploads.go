package engine

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/share"
)

// What comes of reference images at once, of a user and in all: each takes a few hundred KiB of memory
// while it does.
const (
	arrivingOfUser = 16
	arrivingOfAll  = 128
)

// uploads bounds what users keep in the spool. It knows what has come since the engine was made: what a
// former process has left belongs to work that was charged, and goes with it.
type uploads struct {
	arriving *share.Shares[imagegen.UserID]
	bytes    *share.Shares[imagegen.UserID]

	mu   sync.Mutex
	kept map[imagegen.ReferenceID]keptUpload
}

type keptUpload struct {
	user  imagegen.UserID
	bytes int64
}

func newUploads(ofUser int64) *uploads {
	return &uploads{arriving: share.New[imagegen.UserID](arrivingOfUser, arrivingOfAll), bytes: share.New[imagegen.UserID](ofUser, 1<<62),
		kept: make(map[imagegen.ReferenceID]keptUpload)}
}

// begin lets a file come, until end.
func (u *uploads) begin(user imagegen.UserID) (end func(), err error) {
	if !u.arriving.Take(user, 1) {
		return nil, tooManyUploads("too many reference images are being sent at once; send fewer at a time")
	}
	return func() { u.arriving.Give(user, 1) }, nil
}

// keep counts a file until it is forgotten.
func (u *uploads) keep(user imagegen.UserID, f imagegen.ReferenceFile) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.kept[f.ID] = keptUpload{user, f.Size}
}

func (u *uploads) forget(ids []imagegen.ReferenceID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, id := range ids {
		if k, ok := u.kept[id]; ok {
			delete(u.kept, id)
			u.bytes.Give(k.user, k.bytes)
		}
	}
}

// arrival is a reference image on its way into the spool. What it yields is counted as its user's.
type arrival struct {
	io.Reader
	engine *Engine
	user   imagegen.UserID
	taken  int64
}

// Read implements io.Reader. ErrOverloaded: the user keeps as much as one user can, or the disk has no
// room for more of anybody's.
func (a *arrival) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if !a.engine.uploads.bytes.Take(a.user, int64(n)) {
		return 0, tooManyUploads("the reference images of this account that wait for their generations take too much space; wait for some to end")
	}
	a.taken += int64(n)
	if s, ok := a.engine.spool.(interface{ TakeSpace(n int64) error }); ok {
		if err := s.TakeSpace(int64(n)); err != nil {
			return 0, imagegen.ToUserError(err)
		}
	}
	return n, err
}

// giveUp forgets what came.
func (a *arrival) giveUp() { a.engine.uploads.bytes.Give(a.user, a.taken) }

func tooManyUploads(message string) error {
	return &imagegen.Error{Code: imagegen.CodeOverloaded, Message: message, RetryAfter: time.Second}
}

// tooPoor reports whether a user cannot pay for the cheapest image. What such a user sends is looked at, so
// that a repeated request is known, but not kept.
func (e *Engine) tooPoor(ctx context.Context, u imagegen.UserID) bool {
	var b imagegen.Balance
	err := e.askOnce(ctx, func(ctx context.Context) (err error) {
		b, err = e.ledger.Balance(ctx, u)
		return err
	})
	return err == nil && b.Credits < e.cheapest() // in doubt the charge will tell
}

// cheapest is the lowest price of an image; 0 if nothing is on offer.
func (e *Engine) cheapest() (least imagegen.Credits) {
	for _, m := range e.offers.now.Load().listed {
		for _, price := range m.Credits {
			if least == 0 || price < least {
				least = price
			}
		}
	}
	return least
}
