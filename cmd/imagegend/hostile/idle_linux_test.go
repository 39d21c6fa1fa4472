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

// Of ten thousand connections that were of use once and are idle now, thousands are kept and cost little
// memory, the others make room, and other clients are served as if they were not there.
func TestTenThousandIdleConnections(t *testing.T) {
	const connections, fewest, places, most = 10_000, 5_500, 8_192, 32 << 10 // 512 attempts keep files of their own
	h := open(t)
	before := h.RSS()
	idle := h.keepIdle(t, connections)
	kept := h.OpenFiles()
	each := (h.RSS() - before) / fewest
	if kept < fewest || kept > places+100 {
		t.Errorf("%d descriptors are open", kept)
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
	t.Logf("proof hostile: idle=%d kept=%d bytes_each=%d image_meanwhile=%v", connections, kept, each,
		meanwhile.Round(time.Millisecond))
	for _, c := range idle {
		c.Close()
	}
	h.unharmed()
}

// keepIdle opens connections that have each had an answer.
func (h *target) keepIdle(t *testing.T, n int) []net.Conn {
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
