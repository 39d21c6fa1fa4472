package daemon_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemon"
)

func TestPlaces(t *testing.T) {
	for name, test := range map[string]struct {
		files, attempts int
		most, ofOne     int
		tight           bool
	}{
		"the usual limit":  {1024, 16, 416, 104, false},
		"a small one":      {256, 16, 48, 12, false},
		"too small":        {128, 16, 16, 8, true},
		"many attempts":    {1024, 200, 240, 60, true},
		"as many as usual": {4096, 512, 1008, 252, false},
		"a large one":      {20_000, 16, 8192, 512, false},
		"as good as none":  {1 << 20, 16, 8192, 512, false},
		"and few attempts": {256, 4, 80, 20, false},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			most, ofOne, tight := daemon.Places(test.files, test.attempts)
			is.Equal(most, test.most)
			is.Equal(ofOne, test.ofOne)
			is.Equal(tight, test.tight)
		})
	}
}

// bench is a server on a bounded listener whose answers to /wait take until they are let go.
type bench struct {
	*testing.T
	is    *is.I
	addr  string
	begun chan struct{} // gets one for each /wait
	let   chan struct{} // each takes one
	idle  chan struct{} // gets one whenever a connection has fallen silent
	end   func(context.Context) error
	*http.Server
}

func newBench(t *testing.T, most, perAddress int, pressed time.Duration) *bench {
	t.Helper()
	b := &bench{T: t, is: is.New(t), begun: make(chan struct{}, 100), let: make(chan struct{}, 100),
		idle: make(chan struct{}, 100)}
	var err error
	b.Server, b.addr, b.end, err = daemon.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			b.begun <- struct{}{}
			<-b.let
		}
		io.WriteString(w, "ok")
	}), most, perAddress, pressed, func() { b.idle <- struct{}{} })
	b.is.NoErr(err)
	t.Cleanup(func() { b.Close() })
	return b
}

// peer is a connection to it.
type peer struct {
	net.Conn
	in *bufio.Reader
	b  *bench
}

func (b *bench) dial() *peer {
	b.Helper()
	c, err := net.Dial("tcp", b.addr)
	b.is.NoErr(err)
	b.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second))
	return &peer{c, bufio.NewReader(c), b}
}

func (p *peer) ask(path string) *peer {
	p.b.Helper()
	_, err := io.WriteString(p, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
	p.b.is.NoErr(err)
	return p
}

// status reads an answer; 0: the connection was closed instead.
func (p *peer) status() (status int) {
	p.b.Helper()
	r, err := http.ReadResponse(p.in, nil)
	if err != nil {
		p.b.is.True(!errors.Is(err, os.ErrDeadlineExceeded)) // or it is neither answered nor closed
		return 0
	}
	io.Copy(io.Discard, r.Body)
	return r.StatusCode
}

// served is a connection on which a request was answered.
func (b *bench) served() *peer { b.Helper(); return b.dial().again() }

// again has another request answered.
func (p *peer) again() *peer {
	p.b.Helper()
	p.b.is.Equal(p.ask("/").status(), 200)
	<-p.b.idle
	return p
}

// working is a connection with a request under way.
func (b *bench) working() *peer {
	b.Helper()
	p := b.dial().ask("/wait")
	<-b.begun
	return p
}

// Silent connections make room, the longest silent first.
func TestSilenceMakesRoom(t *testing.T) {
	b := newBench(t, 4, 100, time.Hour)
	silent := b.dial()
	idle := b.served()
	silent.again() // and silent for a shorter time than the other
	for range 2 {
		b.working()
	}
	b.served()
	b.is.Equal(idle.status(), 0)
	silent.again()
}

// A connection with a request under way stays; new ones wait.
func TestWorkIsNotDropped(t *testing.T) {
	b := newBench(t, 2, 100, 0)
	first, second := b.working(), b.working()
	third := b.dial().ask("/")
	third.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	_, err := third.in.Peek(1)
	b.is.True(errors.Is(err, os.ErrDeadlineExceeded)) // it waits
	third.SetReadDeadline(time.Now().Add(20 * time.Second))
	b.let <- struct{}{}
	b.is.Equal(third.status(), 200)
	b.let <- struct{}{}
	b.is.Equal(first.status()+second.status(), 400)
}

// When most places are taken, who has been silent for a while goes at once.
func TestShortPatienceUnderPressure(t *testing.T) {
	b := newBench(t, 8, 100, 0)
	var silent []*peer
	for range 6 {
		silent = append(silent, b.served())
	}
	b.working() // the seventh: more than three quarters are taken
	b.working()
	b.is.Equal(silent[0].status(), 0)
	for _, s := range silent[1:] {
		s.again()
	}
}

// One address has its share: a silent one of its connections makes room, and when all work it gets an error.
func TestShareOfOneAddress(t *testing.T) {
	b := newBench(t, 100, 3, time.Hour)
	idle := b.served()
	for range 3 {
		b.working()
	}
	b.is.Equal(idle.status(), 0)
	for range 3 { // a refusal takes no place
		p := b.dial()
		r, err := http.ReadResponse(p.in, nil)
		b.is.NoErr(err)
		b.is.Equal(r.StatusCode, 503)
		b.is.Equal(r.Header.Get("Retry-After"), "1")
		var said struct{ Error struct{ Code string } }
		b.is.NoErr(json.NewDecoder(r.Body).Decode(&said))
		b.is.Equal(said.Error.Code, "overloaded")
	}
	b.let <- struct{}{}
	<-b.idle
	b.working()
}

// A server that ends does not wait for a place for somebody who comes.
func TestShutdownWhileSomebodyWaits(t *testing.T) {
	b := newBench(t, 1, 100, time.Hour)
	first := b.working()
	b.dial().ask("/")
	ended := make(chan error)
	go func() { ended <- b.Shutdown(context.Background()) }()
	b.let <- struct{}{}
	b.is.Equal(first.status(), 200)
	b.is.NoErr(<-ended)
}

// A connection that was taken before a server shuts down gets an answer to its first request, and is closed with it. A
// silent one is closed, and nobody else is let in.
func TestWhatWasTakenIsAnswered(t *testing.T) {
	b := newBench(t, 8, 8, time.Minute)
	late, working := b.dial(), b.working()
	silent := b.served() // connections are taken in order, so the others are by now
	ended := make(chan error, 1)
	go func() { ended <- b.end(t.Context()) }()
	b.is.Equal(silent.status(), 0)
	for {
		c, err := net.Dial("tcp", b.addr)
		if err != nil {
			break
		}
		c.Close()
	}
	b.is.Equal(late.ask("/").status(), 200)
	b.is.Equal(late.status(), 0)
	b.let <- struct{}{}
	b.is.Equal(working.status(), 200)
	b.is.NoErr(<-ended)
}
