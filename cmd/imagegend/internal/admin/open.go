package admin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// ErrDisk says that the disk failed under a commit: what became of the last change is unknown.
var ErrDisk = errors.New("the disk failed under a commit; the outcome of the last change is unknown; check the disk, then run imagegend audit")

// Session is a Service until it is closed.
type Session struct {
	Service
	close func() error
}

// Close ends the session. ErrDisk if the disk failed meanwhile.
func (s *Session) Close() error { return s.close() }

// Open reaches a data directory: through the socket of the server that has it open, or else by
// opening the database. It never makes a directory.
func Open(dir string) (*Session, error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no data directory %s; imagegend serve makes one, --data-dir names another", dir)
	}
	place, err := socketPath(dir)
	if err != nil {
		return nil, err
	}
	if answers(place) {
		return ask(place), nil
	}
	s, err := openLocal(dir)
	if errors.Is(err, storage.ErrLocked) {
		if awaitAnswer(place) {
			return ask(place), nil
		}
		return nil, fmt.Errorf("the data directory %s is in use by another process, but nobody answers on its admin socket %s; wait until that process has started or stopped, or end it", dir, place)
	}
	return s, err
}

// starting is how long a server may take from the lock of its directory to its socket.
const starting = 5 * time.Second

// awaitAnswer gives a server that is just starting the time to open its socket.
func awaitAnswer(place string) bool {
	for limit := time.Now().Add(starting); time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		if answers(place) {
			return true
		}
	}
	return false
}

func ask(place string) *Session {
	r := NewRemote(resolve(place))
	return &Session{r, r.Close}
}

func openLocal(dir string) (*Session, error) {
	db, err := storage.Open(dir, &storage.Options{MustExist: true})
	if err != nil {
		return nil, err
	}
	engine, err := imagegen.New(imagegen.Config{Store: db, Ledger: db})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Session{&Local{Engine: engine, DB: db}, func() error {
		failed := db.Err()
		if err := db.Close(); failed == nil {
			return err
		}
		return ErrDisk
	}}, nil
}
