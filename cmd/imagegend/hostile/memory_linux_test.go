package hostile_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

// Many clients send large headers of parts, or JSON of the maximal size, at once. The daemon holds of each
// no more in memory than its bound.
func TestMemoryOfBodies(t *testing.T) {
	const clients = 64
	for name, c := range map[string]struct {
		contentType, body string
		each              int // bytes that a client may cost
	}{
		"the header of a part": {"multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"" +
			strings.Repeat("a", 9<<20), 512 << 10},
		"headers of a part": {"multipart/form-data; boundary=b", "--b\r\n" +
			strings.Repeat("A: "+strings.Repeat("b", 1000)+"\r\n", 9<<10), 512 << 10},
		"JSON": {"application/json", `{"model":"` + strings.Repeat("a", 1<<20-20), 4 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			before := h.RSS()
			h.hold(clients, h.head(fmt.Sprintf("Content-Type: %s\r\nContent-Length: %d\r\n", c.contentType, len(c.body)+
				1))+c.body)
			each := (h.RSS() - before) / clients
			t.Logf("proof hostile: clients=%d kilobytes_each=%d", clients, each>>10)
			if each > c.each {
				t.Errorf("each of %d clients cost %d bytes of memory", clients, each)
			}
			h.unharmed()
		})
	}
}

// hold has many clients send the same, and stay until all have sent it.
func (h *target) hold(clients int, request string) {
	h.t.Helper()
	var wg sync.WaitGroup
	for range clients {
		c, err := h.dial()
		if err != nil {
			h.t.Fatal(err)
		}
		defer c.Close()
		wg.Go(func() { io.WriteString(c, request) }) // an error: the daemon has heard enough
	}
	wg.Wait()
	h.exact() // and others are served
}
