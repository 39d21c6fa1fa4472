// Package uploads takes reference images in: each is checked as it comes and kept in the spool until its generation has
// ended. What users send at once, and what is kept for each, is bounded.
package uploads

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
	maxArrivingPerUser = 16
	maxArriving        = 128
)

// Uploads are what callers hand in. It knows what has come since the engine was made: what a former process has left
// belongs to work that was charged, and goes with it. It is safe for concurrent use.
type Uploads struct {
	Config
	arriving *share.Shares[imagegen.UserID]
	bytes    *share.Shares[imagegen.UserID]

	mu   sync.Mutex
	kept map[imagegen.ReferenceID]keptUpload
}

type keptUpload struct {
	user  imagegen.UserID
	bytes int64
}

// Config is what Uploads work with.
type Config struct {
	Spool     imagegen.Spool
	NewID     func() imagegen.ReferenceID
	Remove    func(...imagegen.ReferenceID)               // from the Spool, now or later
	CannotPay func(context.Context, imagegen.UserID) bool // who cannot pay for any image: what such a user sends is not kept
	Most      int64                                       // bytes that are kept for a user
}

// New returns Uploads with nothing in them.
func New(c Config) *Uploads {
	return &Uploads{Config: c, arriving: share.New[imagegen.UserID](maxArrivingPerUser, maxArriving), bytes: share.New[imagegen.UserID](c.Most, 1<<62),
		kept: make(map[imagegen.ReferenceID]keptUpload)}
}

// RemoveFiles removes the files of a generation, wherever they came from.
func (u *Uploads) RemoveFiles(files []imagegen.ReferenceFile) {
	var ids []imagegen.ReferenceID
	for _, f := range files {
		if f.ID != "" { // it was kept
			ids = append(ids, f.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	u.forget(ids)
	u.Remove(ids...)
}

// begin lets a file come, until end.
func (u *Uploads) begin(user imagegen.UserID) (end func(), err error) {
	if !u.arriving.Take(user, 1) {
		return nil, tooManyUploads("too many reference images are being sent at once; send fewer at a time")
	}
	return func() { u.arriving.Give(user, 1) }, nil
}

// count counts a file until it is forgotten.
func (u *Uploads) count(user imagegen.UserID, f imagegen.ReferenceFile) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.kept[f.ID] = keptUpload{user, f.Size}
}

func (u *Uploads) forget(ids []imagegen.ReferenceID) {
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
	uploads *Uploads
	user    imagegen.UserID
	taken   int64
}

// Read implements io.Reader. ErrOverloaded: the user keeps as much as one user can, or the disk has no
// room for more of anybody's.
func (a *arrival) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if !a.uploads.bytes.Take(a.user, int64(n)) {
		return 0, tooManyUploads("the reference images of this account that wait for their generations take too much space; wait for some to end")
	}
	a.taken += int64(n)
	if s, ok := a.uploads.Spool.(interface{ TakeSpace(n int64) error }); ok {
		if err := s.TakeSpace(int64(n)); err != nil {
			return 0, imagegen.ToUserError(err)
		}
	}
	return n, err
}

// giveUp forgets what came.
func (a *arrival) giveUp() { a.uploads.bytes.Give(a.user, a.taken) }

func tooManyUploads(message string) error {
	return &imagegen.Error{Code: imagegen.CodeOverloaded, Message: message, RetryAfter: time.Second}
}
