package hostile_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// ways to leave before the end.
var ways = map[string]func(*net.TCPConn) ([]int, error){
	"closes":        func(c *net.TCPConn) ([]int, error) { return nil, c.Close() },
	"resets":        func(c *net.TCPConn) ([]int, error) { c.SetLinger(0); return nil, c.Close() },
	"falls silent":  func(c *net.TCPConn) ([]int, error) { c.CloseWrite(); return statuses(bufio.NewReader(c), -1) },
	"reads no more": func(c *net.TCPConn) ([]int, error) { c.CloseRead(); c.CloseWrite(); return nil, nil },
}

// A client that leaves after any byte of a request, but the last, is charged nothing; whether the
// answer is known by then or not.
func TestHangUpAtEveryByteOfARequest(t *testing.T) {
	h := open(t)
	contentType, upload := form("")
	wrong := strings.Replace(h.post(contentType, upload), h.key, h.key[:len(h.key)-1]+"!", 1)
	_, odd := form(part(`form-data; name="cfg_scale"`, "7"))
	requests := map[string]string{
		"JSON": h.post("application/json", foxJSON),
		"JSON in chunks": h.head(
			"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n") + chunked(foxJSON),
		"a form": h.post(contentType, upload),
		"a form in chunks": h.head("Content-Type: "+contentType+
			"\r\nTransfer-Encoding: chunked\r\n") + chunked(upload),
		"a form that is refused early": h.post(contentType, odd),
		"a form whose key is refused":  wrong,
		"a form that waits for a 100": strings.Replace(h.post(contentType, upload), "Host:",
			"Expect: 100-continue\r\nHost:", 1),
		"a form behind an answer that is due": "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" + h.post(contentType, upload),
	}
	hangUps := 0
	for name, request := range requests {
		for way, leave := range ways {
			if way != "falls silent" && strings.Contains(name, "chunks") {
				continue // as with the others
			}
			t.Run(name+" "+way, func(t *testing.T) {
				h.leaveAtEveryByte(t, request, leave)
			})
			hangUps += len(request)
		}
	}
	t.Logf("proof hostile: hang_ups=%d requests=%d ways=%d charged=0", hangUps, len(requests), len(ways))
	h.unharmed()
}

func (h *target) leaveAtEveryByte(t *testing.T, request string, leave func(*net.TCPConn) ([]int, error)) {
	const clients = 8
	var wg sync.WaitGroup
	for first := range clients {
		wg.Go(func() {
			for n := first; n < len(request); n += clients {
				if err := h.leaveAfter(request[:n], leave); err != nil {
					t.Errorf("after byte %d, %q: %v", n, request[max(0, n-20):n], err)
				}
			}
		})
	}
	wg.Wait()
	h.in(t).exact()
}

// leaveAfter sends a request in part. No answer may be a success.
func (h *target) leaveAfter(sent string, leave func(*net.TCPConn) ([]int, error)) error {
	c, err := h.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := io.WriteString(c, sent); err != nil {
		return err
	}
	answers, err := leave(c)
	if strings.HasPrefix(sent, "GET") && len(answers) > 0 {
		answers = answers[1:] // the one that was due
	}
	if err == nil && slices.ContainsFunc(answers, func(status int) bool { return status/100 == 2 }) {
		err = fmt.Errorf("the answers are %v", answers)
	}
	return err
}

// A client that leaves after any byte of the answer is charged once; asking again with the same
// idempotency key, it gets the same answer.
func TestHangUpAtEveryByteOfTheAnswer(t *testing.T) {
	h := open(t)
	contentType, upload := form("")
	request := strings.Replace(h.post(contentType, upload), "Host:", "Idempotency-Key: one\r\nHost:", 1)
	if err := h.leaveAfter(request, ways["closes"]); err != nil { // before the answer is known
		t.Fatal(err)
	}
	var whole string
	daemontest.EventuallyOr(h.t, 20*time.Second, func() bool {
		whole = h.answerTo(t, request, 1<<20)
		return strings.HasPrefix(whole, "HTTP/1.1 200 ") // 409 as long as the first call is under way
	}, func() string { return whole })
	h.spent++
	for n := range len(whole) {
		if got := h.answerTo(t, request, n); len(got) != n {
			t.Fatalf("of the first %d bytes of the answer %d came", n, len(got))
		}
	}
	t.Logf("proof hostile: answers=%d charged=1", len(whole)+2)
	h.unharmed()
}

// answerTo sends a request, reads at most so many bytes of the answer, and leaves.
func (h *target) answerTo(t *testing.T, request string, most int) string {
	t.Helper()
	c, err := h.dial()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	var raw strings.Builder
	in := io.TeeReader(io.LimitReader(c, int64(most)), &raw)
	if a, err := http.ReadResponse(bufio.NewReader(in), nil); err == nil {
		io.Copy(io.Discard, a.Body) // what is missing is missed by who compares
	}
	return raw.String()
}
