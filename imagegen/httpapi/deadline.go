package httpapi

import (
	"io"
	"net/http"
	"time"
)

const (
	// patience is how long a peer may keep a body or an answer waiting.
	patience = 30 * time.Second
	// minRate is the least bytes a second that a body must come at, on average, beyond patience.
	minRate = 8 << 10
	// lingering is how long an answer that came before the end of the body waits for the rest, which
	// net/http reads to leave the connection fit for use.
	lingering = 2 * time.Second
)

func transferTime(bytes int64) time.Duration { return time.Duration(bytes) * time.Second / minRate }

// steady is a request body that must keep coming: who sends a byte now and then does not hold a
// connection for ever.
type steady struct {
	*exchange
	body io.Reader
	n    int64
}

// Read implements io.Reader.
func (s *steady) Read(p []byte) (int, error) {
	deadline := time.Now().Add(patience)
	if total := s.began.Add(patience + transferTime(s.n)); total.Before(deadline) {
		deadline = total
	}
	s.control.SetReadDeadline(deadline)
	n, err := s.body.Read(p)
	s.n += int64(n)
	s.read = err != nil
	if err == io.EOF {
		// From here on net/http waits on the connection for a caller that hangs up; a deadline would
		// look like one.
		s.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// NewServer returns a server with limits that suit the handler: 10 seconds for a header of at most
// 32 KiB, two minutes between requests. It sets no ReadTimeout and no WriteTimeout: either would cut
// off generations and uploads, and the handler sets deadlines of its own. Set Addr before you listen.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
	}
}
