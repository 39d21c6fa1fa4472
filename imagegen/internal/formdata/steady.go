package formdata

import (
	"io"
	"net/http"
	"time"
)

const (
	// Patience is how long a peer may keep a body or an answer waiting.
	Patience = 30 * time.Second
	// MinRate is the least rate of a body, in bytes a second. It applies to the most recent Patience and
	// not to the average, so that a quick beginning does not earn hours of silence.
	MinRate = 8 << 10
	// MaxTime is how long a body may take in all.
	MaxTime = time.Hour
)

// TransferTime is how long that many bytes may take.
func TransferTime(bytes int64) time.Duration { return time.Duration(bytes) * time.Second / MinRate }

// Steady is a request body that must keep coming: a peer that sends a byte now and then cannot hold a
// connection for ever. It works by the read deadline of the connection, which it sets before each Read.
type Steady struct {
	Body    io.Reader
	Control *http.ResponseController
	Began   time.Time     // when the request began, for MaxTime
	Ended   bool          // Read has returned an error, be it io.EOF
	waited  time.Duration // how long the peer has kept Read waiting beyond what MinRate allows for its bytes
}

// Read implements io.Reader. os.ErrDeadlineExceeded: the body came too slowly. The time between two
// reads is the reader's own and counts for MaxTime only.
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
