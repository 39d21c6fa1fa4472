// Package uploads receives reference images. Each is checked while it arrives and kept in
// the spool until its generation has ended. How many a user can send at once, and how
// much is kept for each user, is bounded.
//
// An image arrives through Stage, before its generation is asked for, or with Take, which
// hands all files of a request over to the engine. Stored is such a file as providers see it.
package uploads

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/share"
)

// maxArrivingPerUser and maxArriving bound the reference images that arrive at the same
// time. Each takes a few hundred KiB of memory meanwhile.
const (
	maxArrivingPerUser = 16
	maxArriving        = 128
)

// Uploads are the files that callers hand in. It counts what has arrived since the engine
// was created. Files of an earlier process belong to charged work and are removed with
// it. It is safe for concurrent use.
type Uploads struct {
	Config
	arriving *share.Shares[imagegen.UserID] // files that are being received
	bytes    *share.Shares[imagegen.UserID] // bytes that are received or kept; no limit for all users together

	mu   sync.Mutex // guards kept
	kept map[imagegen.ReferenceID]keptUpload
}

// keptUpload is what a stored file counts for its user, and what it is kept for.
type keptUpload struct {
	user  imagegen.UserID
	bytes int64
	of    imagegen.GenerationID // "": nothing yet
	since time.Time             // when it came to belong to that
}

// Held are the files that are kept for one generation.
type Held struct {
	Since time.Time
	Files []imagegen.ReferenceFile // only their identifiers
}

// Config is what Uploads work with.
type Config struct {
	Spool  imagegen.Spool
	NewID  func() imagegen.ReferenceID
	Remove func(...imagegen.ReferenceID) // from the Spool, now or later
	// who cannot pay for any image: what such a user sends is not kept
	CannotPay func(context.Context, imagegen.UserID) bool
	Most      int64 // bytes that are kept for a user
}

// New returns Uploads without any file.
func New(c Config) *Uploads {
	return &Uploads{Config: c, arriving: share.New[imagegen.UserID](maxArrivingPerUser, maxArriving),
		bytes: share.New[imagegen.UserID](c.Most, 1<<62), kept: make(map[imagegen.ReferenceID]keptUpload)}
}

// RemoveFiles removes the files of a generation, including those of an earlier process, and
// gives their bytes back to the user. It can be repeated. A file without an identifier was
// never stored.
func (u *Uploads) RemoveFiles(files []imagegen.ReferenceFile) {
	u.removeIf(files, func(imagegen.ReferenceID) bool { return true })
}

// countKept notes whose bytes a stored file takes, until it is removed. arrival has counted the bytes.
func (u *Uploads) countKept(user imagegen.UserID, id imagegen.ReferenceID, bytes int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.kept[id] = keptUpload{user: user, bytes: bytes}
}

// BelongTo notes that files are kept for a generation that was accepted, or may have been.
// Files that were removed meanwhile stay removed; all reports whether there are none of those.
func (u *Uploads) BelongTo(id imagegen.GenerationID, files []imagegen.ReferenceFile) (all bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	all = true
	now := time.Now()
	for _, f := range files {
		k, ok := u.kept[f.ID]
		if all = all && ok; ok {
			k.of, k.since = id, now
			u.kept[f.ID] = k
		}
	}
	return all
}

// Held returns what has been kept for generations since before a time.
func (u *Uploads) Held(before time.Time) map[imagegen.GenerationID]Held {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := make(map[imagegen.GenerationID]Held)
	for id, k := range u.kept {
		if k.of != "" && k.since.Before(before) {
			h := all[k.of]
			all[k.of] = Held{k.since, append(h.Files, imagegen.ReferenceFile{ID: id})}
		}
	}
	return all
}

// RemoveHeld removes what Held has returned, but for files that have come to belong to the generation anew since.
func (u *Uploads) RemoveHeld(h Held) {
	u.removeIf(h.Files, func(id imagegen.ReferenceID) bool {
		k, ok := u.kept[id]
		return ok && k.since.Equal(h.Since)
	})
}

// removeIf removes those of the files that were stored and that gone, which is called with u.mu held, reports.
func (u *Uploads) removeIf(files []imagegen.ReferenceFile, gone func(imagegen.ReferenceID) bool) {
	var ids []imagegen.ReferenceID
	u.mu.Lock()
	for _, f := range files {
		if f.ID != "" && gone(f.ID) {
			ids = append(ids, f.ID)
			k := u.kept[f.ID] // zero: an earlier process has counted it
			u.bytes.Give(k.user, k.bytes)
			delete(u.kept, f.ID)
		}
	}
	u.mu.Unlock()
	if len(ids) > 0 {
		u.Remove(ids...)
	}
}

// arrival is a reference image on its way into the spool. Its bytes are counted for its
// user as they are read.
type arrival struct {
	io.Reader
	uploads *Uploads
	user    imagegen.UserID
	taken   int64
}

// Read implements io.Reader. ErrOverloaded: the user has as much stored as one user can,
// or the disk has no room for anybody's upload. Bytes are counted before they are written,
// so the limits hold while many files arrive at once.
func (a *arrival) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if !a.uploads.bytes.Take(a.user, int64(n)) {
		return 0, tooManyUploads("the reference images of this account that wait for their generations take too much space; wait for some to end")
	}
	a.taken += int64(n)
	if s, ok := a.uploads.Spool.(imagegen.SpaceTaker); ok {
		if err := s.TakeSpace(int64(n)); err != nil {
			return 0, imagegen.ToUserError(err)
		}
	}
	return n, err
}

func tooManyUploads(message string) error {
	return &imagegen.Error{Code: imagegen.CodeOverloaded, Message: message, RetryAfter: time.Second}
}
