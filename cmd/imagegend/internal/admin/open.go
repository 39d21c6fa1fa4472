package admin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/data"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/private"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// ErrDisk says that the disk failed under a commit: what became of the last change is unknown.
var ErrDisk = errors.New("the disk failed under a commit; the outcome of the last change is unknown; check the disk, then run imagegend audit")

// Session is a Service until it is closed.
type Session struct {
	Service
	Server bool // a server answers, and has the directory open
	close  func() error
}

// Close ends the session. ErrDisk if the disk failed meanwhile.
func (s *Session) Close() error { return s.close() }

// How long a server that has just been started may take: to make its directory, and from the lock
// of the directory to its socket. A script starts it and goes on at once.
const (
	untilMade      = time.Second
	untilListening = 5 * time.Second
)

// Open reaches the data: through the socket of the server that has the directory open, or else by
// opening the database. It never makes a directory.
func Open(ctx context.Context, at config.Data) (*Session, error) {
	if err := at.Check(); err != nil {
		return nil, err
	}
	if at.Shared() {
		return openLocal(ctx, at)
	}
	dir := at.DataDir
	for began := time.Now(); ctx.Err() == nil; pause(ctx) {
		place, err := socketPath(dir) // again, since the directory may be made meanwhile
		if err != nil {
			return nil, err
		}
		s, err := connect(ctx, at, place)
		waited := time.Since(began)
		switch {
		case errors.Is(err, fs.ErrNotExist) && waited > untilMade:
			return nil, fmt.Errorf("there is no data directory %s; imagegend serve makes one, --data-dir names another", dir)
		case errors.Is(err, storage.ErrNoDatabase) && waited > untilMade:
			return nil, err
		case errors.Is(err, storage.ErrLocked) && waited > untilListening:
			return nil, fmt.Errorf("the data directory %s is in use by another process, but nobody answers on its admin socket %s; wait until that process has started or stopped, or end it", dir, place)
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, storage.ErrNoDatabase), errors.Is(err, storage.ErrLocked):
			continue
		}
		return s, err
	}
	return nil, ctx.Err()
}

// pause lets a server get on, unless ctx ends.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Millisecond):
	}
}

func connect(ctx context.Context, at config.Data, place string) (*Session, error) {
	if err := private.CheckDir(at.DataDir); err != nil {
		return nil, err // whoever answers there may be anybody
	}
	if answers(ctx, place) {
		return ask(place), nil
	}
	if _, err := os.Stat(at.DataDir); errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return openLocal(ctx, at)
}

func ask(place string) *Session {
	r := newRemote(resolve(place))
	return &Session{r, true, r.Close}
}

func openLocal(ctx context.Context, at config.Data) (*Session, error) {
	db, err := data.Open(ctx, at, data.Options{})
	if errors.Is(err, storage.ErrOutcomeUnknown) {
		return nil, ErrDisk
	}
	if err != nil {
		return nil, err
	}
	service, err := engine.New(engine.Config{Store: db, Ledger: db})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Session{&Local{Engine: service, DB: db}, false, func() error {
		failed := db.Err()
		if err := db.Close(); failed == nil {
			return err
		}
		return ErrDisk
	}}, nil
}
