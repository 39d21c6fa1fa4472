package formdata_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/internal/formdata"
)

// slow has a peer send so many bytes at once, and then pieces with a pause before each, and returns what a
// Steady made of them and when.
func slow(t *testing.T, first, pieces, size int, pause time.Duration) (n int64, took time.Duration, s *formdata.Steady,
	err error) {
	near, far := net.Pipe()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		defer far.Close()
		far.Write(make([]byte, first))
		for range pieces {
			time.Sleep(pause)
			if _, err := far.Write(make([]byte, size)); err != nil {
				return // nobody reads any more
			}
		}
	}()
	began := time.Now()
	s = &formdata.Steady{Body: near, Control: http.NewResponseController(deadlines{conn: near}), Began: began}
	n, err = io.Copy(io.Discard, bufio.NewReader(s))
	took = time.Since(began)
	near.Close()
	<-sent
	return n, took, s, err
}

// deadlines is a ResponseWriter that passes deadlines on.
type deadlines struct {
	http.ResponseWriter
	conn net.Conn
}

func (d deadlines) SetReadDeadline(t time.Time) error { return d.conn.SetReadDeadline(t) }

// A body that keeps coming may take its time; one that stalls, or drips, is given up.
func TestSteady(t *testing.T) {
	for name, c := range map[string]struct {
		first        int // bytes at once
		pieces, size int
		pause, took  time.Duration
		slow         bool
	}{
		"quick":  {pieces: 3, size: 1000, pause: time.Second, took: 3 * time.Second},
		"long":   {pieces: 100, size: 10 * formdata.MinRate, pause: 9 * time.Second, took: 900 * time.Second},
		"stalls": {pieces: 3, size: 1000, pause: time.Minute, took: formdata.Patience, slow: true},
		// Its bytes allow for next to nothing beyond the patience.
		"drips": {pieces: 1000, size: 1, pause: time.Second, took: formdata.Patience, slow: true},
		// What came before earns no silence.
		"drips after a quick beginning": {first: 40 << 20, pieces: 1000, size: 1, pause: 25 * time.Second,
			took: formdata.Patience, slow: true},
		"stalls after a quick beginning": {first: 40 << 20, pieces: 1, size: 1, pause: time.Minute,
			took: formdata.Patience, slow: true},
		"steady without end": {pieces: 1000, size: 10 * formdata.MinRate, pause: 9 * time.Second,
			took: formdata.MaxTime, slow: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				n, took, s, err := slow(t, c.first, c.pieces, c.size, c.pause)
				is.Equal(errors.Is(err, os.ErrDeadlineExceeded), c.slow)
				is.Equal(took.Round(time.Second), c.took)
				is.True(s.Ended)
				if !c.slow {
					is.NoErr(err)
					is.Equal(n, int64(c.pieces*c.size))
				}
			})
		})
	}
}

// After the end of a body the connection waits for a caller that hangs up, as long as it takes.
func TestSteadyEnds(t *testing.T) {
	is := is.New(t)
	var last time.Time
	control := http.NewResponseController(recorder{set: func(t time.Time) { last = t }})
	s := &formdata.Steady{Body: io.LimitReader(zeros{}, 10), Control: control, Began: time.Now()}
	_, err := s.Read(make([]byte, 5))
	is.NoErr(err)
	is.True(!last.IsZero() && !s.Ended)
	_, err = io.Copy(io.Discard, s)
	is.NoErr(err)
	is.True(last.IsZero() && s.Ended)
}

type recorder struct {
	http.ResponseWriter
	set func(time.Time)
}

func (r recorder) SetReadDeadline(t time.Time) error { r.set(t); return nil }

func TestTransferTime(t *testing.T) {
	is := is.New(t)
	is.Equal(formdata.TransferTime(0), time.Duration(0))
	is.Equal(formdata.TransferTime(formdata.MinRate), time.Second)
	is.Equal(formdata.TransferTime(50<<20), 6400*time.Second)
	is.True(formdata.TransferTime(formdata.MaxBytes) > 0) // no overflow
}
