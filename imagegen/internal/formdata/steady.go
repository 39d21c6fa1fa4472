package formdata

import (
	"io"
	"net/http"
	"time"
)

const (
	// Patience is how long a peer may keep a body or an answer waiting.
	Patience = 30 * time.Second
	// MinRate is the least bytes a second that a body must come at, on average, beyond Patience.
	MinRate = 8 << 10
)

// TransferTime is how long that many bytes may take.
func TransferTime(bytes int64) time.Duration { return time.Duration(bytes) * time.Second / MinRate }

// Steady is a request body that must keep coming: who sends a byte now and then does not hold a
// connection for ever.
type Steady struct {
	Body    io.Reader
	Control *http.ResponseController
	Began   time.Time
	Ended   bool // it was read to its end, or to what is wrong with it
	n       int64
}

// Read implements io.Reader. os.ErrDeadlineExceeded: it came too slowly.
func (s *Steady) Read(p []byte) (int, error) {
	deadline := time.Now().Add(Patience)
	if total := s.Began.Add(Patience + TransferTime(s.n)); total.Before(deadline) {
		deadline = total
	}
	s.Control.SetReadDeadline(deadline)
	n, err := s.Body.Read(p)
	s.n += int64(n)
	s.Ended = err != nil
	if err == io.EOF {
		// From here on net/http waits on the connection for a caller that hangs up; a deadline would
		// look like one.
		s.Control.SetReadDeadline(time.Time{})
	}
	return n, err
}
