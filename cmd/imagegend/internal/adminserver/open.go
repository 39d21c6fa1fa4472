package adminserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/data"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/private"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// ErrDisk says that the disk failed under a commit, here or in the server that was asked. What became of the last
// change is unknown. The process exits with a status of its own for it.
var ErrDisk = errors.New("the disk failed under a commit; the outcome of the last change is unknown; check the disk, then run imagegend audit")

// Session carries calls out until it is closed.
type Session struct {
	admin.Caller
	Server bool // a running server answers; otherwise this process has the data open
	// Close must be called: it releases the database, if the session has it open. If the disk failed under a commit
	// meanwhile, it returns ErrDisk, whatever the calls returned.
	Close func() error
}

// How long Open waits for a server that has just been started. A script may start one and go on at once, so a missing
// directory, a missing database and a directory that is locked without a socket can each be the beginning of a start.
const (
	untilMade      = time.Second     // for the directory and the database
	untilListening = 5 * time.Second // from the lock on the directory to the socket
)

// Open reaches the data: through the socket of the server that has the directory open, or else by opening the
// database itself, which keeps a server from starting until Close. Data that several nodes share is always opened
// directly. Open never makes a directory or a database. It tries again, every 20 ms, while the state could be that of
// a server that is starting, for 5 seconds at most. The errors are ErrDisk and those of data.Open.
func Open(ctx context.Context, at config.Data) (*Session, error) {
	if err := at.Check(); err != nil {
		return nil, err
	}
	if at.Shared() {
		return openLocal(ctx, at)
	}
	dir := at.DataDir
	for began := time.Now(); ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		place, err := socketPath(dir) // each time: once the directory exists, its links can be followed
		if err != nil {
			return nil, err
		}
		s, err := connect(ctx, at, place)
		waited := time.Since(began)
		switch {
		case errors.Is(err, fs.ErrNotExist) && waited > untilMade:
			return nil, fmt.Errorf("there is no data directory %s; imagegend serve makes one, --data-dir names another",
				dir)
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

// connect tries once: the socket first, then the database. The order matters: a server holds the lock of the
// database, so without a look at the socket a running server would be an error.
func connect(ctx context.Context, at config.Data, place string) (*Session, error) {
	if err := private.CheckDir(at.DataDir); err != nil {
		return nil, err // somebody else could have put a socket there, and would learn what the command sends
	}
	if answers(ctx, place) {
		var d net.Dialer
		socket := resolve(place)
		server := &remote{http.Client{Transport: &http.Transport{ // to which nothing is sent yet
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return d.DialContext(ctx, "unix", socket)
			},
		}}}
		return &Session{server, true, server.Close}, nil
	}
	// A missing directory is an error of its own, with other advice than a missing database.
	if _, err := os.Stat(at.DataDir); errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return openLocal(ctx, at)
}

// openLocal opens the data in this process. Its engine has no models and is not started: it serves to manage what
// exists.
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

// remote carries calls out by a running server, reached through its socket. The server's errors arrive as its words,
// without their type; only ErrDisk is recognized. A call has no time limit but that of its context. remote is safe
// for concurrent use.
type remote struct{ http http.Client }

var _ admin.Caller = (*remote)(nil)

// Close releases idle connections. Calls under way go on.
func (r *remote) Close() error {
	r.http.CloseIdleConnections()
	return nil
}

// Call implements [admin.Caller]. If the connection breaks, it is unknown whether the server carried the call out. A
// status but 200 whose body is not an error of this interface means that the server does not know the call.
func (r *remote) Call(ctx context.Context, name, _ string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://imagegend/"+name, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return fmt.Errorf("the running server did not answer: %w", err)
	}
	defer resp.Body.Close()
	w, stream := out.(io.Writer)
	switch {
	case resp.StatusCode != http.StatusOK:
		return refusedBy(resp, name)
	case stream:
		return admin.Receive(resp, w)
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("the running server broke off its answer: %w", err)
	}
	return nil
}

// refusedBy returns the error of an answer.
func refusedBy(resp *http.Response, name string) error {
	var f failure
	if err := json.NewDecoder(resp.Body).Decode(&f); err != nil || f.Error == "" {
		return fmt.Errorf("the running server does not know %q: it is of another version than this command", name)
	}
	if f.Disk {
		return ErrDisk // in the same words as without a server
	}
	return errors.New(f.Error)
}
