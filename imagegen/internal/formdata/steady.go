package formdata

import (
	"io"
	"net/http"
	"time"
)

const (
	// Patience is how long a peer may keep a body or an answer waiting.
	Patience = 30 * time.Second
	// MinRate is the least bytes a second that a body must come at: of each Patience, not on average, so
	// that nobody earns hours of silence by a quick beginning.
	MinRate = 8 << 10
	// MaxTime is how long a body may take in all.
	MaxTime = time.Hour
)

// TransferTime is how long that many bytes may take.
func TransferTime(bytes int64) time.Duration { return time.Duration(bytes) * time.Second / MinRate }

// Steady is a request body that must keep coming: who sends a byte now and then does not hold a
// connection for ever.
type Steady struct {
	Body    io.Reader
	Control *http.ResponseController
	Began   time.Time
	Ended   bool          // it was read to its end, or to what is wrong with it
	waited  time.Duration // for the peer, beyond what the bytes of the last Patience allow for
}

// Read implements io.Reader. os.ErrDeadlineExceeded: it came too slowly. The time between two reads is
// the reader's own and does not count but for MaxTime.
func (s *Steady) Read(p []byte) (int, error) {
	began := time.Now()
	deadline := began.Add(Patience - s.waited)
	if last := s.Began.Add(MaxTime); last.Before(deadline) {
		deadline = last
	}
	s.Control.SetReadDeadline(deadline)
	n, err := s.Body.Read(p)
	s.waited = max(0, s.waited+time.Since(began)-TransferTime(int64(n)))
	s.Ended = err != nil
	if err == io.EOF {
		// From here on net/http waits on the connection for a caller that hangs up; a deadline would
		// look like one.
		s.Control.SetReadDeadline(time.Time{})
	}
	return n, err
}
