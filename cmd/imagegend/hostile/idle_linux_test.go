package hostile_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Ten thousand connections that were of use once and are idle now cost little memory, and others
// are served as if they were not there.
func TestTenThousandIdleConnections(t *testing.T) {
	const connections, most = 10_000, 32 << 10
	h := open(t)
	before := h.RSS()
	idle := h.keepIdle(t, connections)
	each := (h.RSS() - before) / connections
	if open := h.OpenFiles(); open < connections {
		t.Errorf("%d descriptors are open: the connections are not idle, but closed", open)
	}
	if each > most {
		t.Errorf("a connection costs %d bytes of memory", each)
	}
	began := time.Now()
	for range 20 {
		h.buy(small(h.key))
	}
	meanwhile := time.Since(began) / 20
	if meanwhile > 2*time.Second {
		t.Errorf("an image took %v meanwhile", meanwhile)
	}
	t.Logf("proof hostile: idle=%d bytes_each=%d image_meanwhile=%v", connections, each, meanwhile.Round(time.Millisecond))
	for _, c := range idle {
		c.Close()
	}
	h.unharmed()
}

// keepIdle opens connections that have each had an answer.
func (h *house) keepIdle(t *testing.T, n int) []net.Conn {
	const openers = 32
	idle := make([]net.Conn, n)
	var wg sync.WaitGroup
	for first := range openers {
		wg.Go(func() {
			for i := first; i < n && !t.Failed(); i += openers {
				c, err := h.dial()
				if err != nil {
					t.Error(err)
					return
				}
				idle[i] = c
				io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n") // an error shows as the next one
				if _, err := http.ReadResponse(bufio.NewReaderSize(c, 512), nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return idle
}
