package proxies

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// example is a configuration in deploy/.
type example struct {
	program, file string
	nodes         []string // the addresses in it
	asks          bool     // the proxy asks /readyz
}

var three = []string{"node1:8080", "node2:8080", "node3:8080"}

var examples = []example{
	{"caddy", "Caddyfile", []string{"127.0.0.1:8080"}, false},
	{"nginx", "nginx.conf", []string{"127.0.0.1:8080"}, false},
	{"caddy", "nodes/Caddyfile", three, true},
	{"nginx", "nodes/nginx.conf", three, false},
	{"haproxy", "nodes/haproxy.cfg", three, true},
}

// each runs f with each example that has at least so many nodes.
func each(t *testing.T, atLeast int, f func(t *testing.T, e example, nodes []*node, newClient func() *http.Client)) {
	for _, e := range examples {
		if len(e.nodes) < atLeast {
			continue
		}
		t.Run(e.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(e.file)))
			is.New(t).NoErr(err)
			var nodes []*node
			at := map[string]*node{}
			for _, address := range e.nodes {
				n := startNode(t, address)
				nodes, at[address] = append(nodes, n), n
			}
			f(t, e, nodes, start(t, e.program, string(text), at))
		})
	}
}

// ask sends a request with a body and returns the answer, which is read whole.
func ask(t *testing.T, c *http.Client, path string, body io.Reader, length int64) (*http.Response, string) {
	t.Helper()
	is := is.New(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(ctx, method, "https://"+site+path, body)
	is.NoErr(err)
	r.ContentLength = length
	r.Header.Set("X-Forwarded-For", "203.0.113.9") // a lie
	answer, err := c.Do(r)
	is.NoErr(err)
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	is.NoErr(err)
	return answer, string(b)
}

// A node learns who calls, and under which address, on every path.
func TestForwarded(t *testing.T) {
	each(t, 1, func(t *testing.T, _ example, _ []*node, newClient func() *http.Client) {
		c := newClient()
		for _, path := range []string{"/api/v1/models", "/images/1", "/v1/models", "/mcp", "/console/",
			"/console/sign-in"} {
			_, seen := ask(t, c, path, nil, 0)
			if want := client + " https://" + site + ", host " + site; seen != want {
				t.Errorf("%s: %s, want %s", path, seen, want)
			}
		}
	})
}

// largest is the largest body that a node takes.
const largest = imagegen.MaxReferences*imagegen.MaxReferenceBytes + 1<<20

// begun is a body that ends only after somebody has received its beginning.
type begun struct {
	left  int64
	began <-chan struct{}
	sent  bool
}

func (b *begun) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	if b.sent && b.began != nil {
		select {
		case <-b.began:
			b.began = nil
		case <-time.After(soon):
			return 0, errors.New("no node has received the beginning of the body")
		}
	}
	b.sent = true
	n := min(int64(len(p)), b.left)
	clear(p[:n])
	b.left -= n
	return int(n), nil
}

// The largest upload reaches a node whole, and as it is sent.
func TestLargestUpload(t *testing.T) {
	each(t, 1, func(t *testing.T, _ example, nodes []*node, newClient func() *http.Client) {
		began := make(chan struct{})
		for _, n := range nodes {
			go func() {
				select {
				case <-n.began:
					close(began)
				case <-t.Context().Done():
				}
			}()
		}
		answer, received := ask(t, newClient(), "/api/v1/images/generations", &begun{left: largest, began: began},
			largest)
		is := is.New(t)
		is.Equal(answer.StatusCode, http.StatusOK)
		is.Equal(received, strconv.FormatInt(largest, 10))
	})
}

// An answer that a node streams arrives as it is sent.
func TestStream(t *testing.T) {
	each(t, 1, func(t *testing.T, _ example, nodes []*node, newClient func() *http.Client) {
		is := is.New(t)
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+site+"/stream", nil)
		is.NoErr(err)
		answer, err := newClient().Do(r)
		is.NoErr(err)
		defer answer.Body.Close()
		lines := bufio.NewScanner(answer.Body)
		is.True(lines.Scan())
		is.Equal(lines.Text(), "first") // while the node waits
		for _, n := range nodes {
			close(n.proceed)
		}
		is.True(lines.Scan())
		is.Equal(lines.Text(), "second")
	})
}

// asked is which nodes answer some requests.
func asked(t *testing.T, c *http.Client, path string) map[string]int {
	t.Helper()
	by := map[string]int{}
	for range 12 {
		answer, _ := ask(t, c, path, nil, 0)
		by[answer.Header.Get("Node")]++
	}
	return by
}

// Requests are spread over the nodes.
func TestRequestsAreSpread(t *testing.T) {
	each(t, 2, func(t *testing.T, _ example, _ []*node, newClient func() *http.Client) {
		is, c := is.New(t), newClient()
		is.True(len(asked(t, c, "/console/")) > 1)
		is.True(len(asked(t, c, "/api/v1/models")) > 1)
	})
}

// A node that takes no work gets none, and one that is gone either.
func TestNodeThatIsNotReady(t *testing.T) {
	each(t, 2, func(t *testing.T, e example, nodes []*node, newClient func() *http.Client) {
		c, away := newClient(), nodes[0]
		if e.asks {
			away.ready.Store(false)
		} else {
			is.New(t).NoErr(away.server.Close())
		}
		for _, path := range []string{"/api/v1/models", "/console/"} {
			for end := time.Now().Add(soon); asked(t, c, path)[away.name] > 0; {
				if time.Now().After(end) {
					t.Fatalf("%s: a node that takes no work is sent some after %v", path, soon)
				}
			}
			for range 3 { // and from then on all requests succeed
				answer, _ := ask(t, c, path, nil, 0)
				is.New(t).Equal(answer.StatusCode, http.StatusOK)
			}
		}
	})
}

// The proxy of the Compose file forwards as the others do, and skips nodes that are not ready.
func TestComposeProxy(t *testing.T) {
	text, err := os.ReadFile("../compose.scale.yaml")
	is.New(t).NoErr(err)
	_, block, found := strings.Cut(string(text), "    content: |\n")
	if !found {
		t.Fatal("the Compose file has no Caddyfile")
	}
	var caddyfile strings.Builder
	for line := range strings.Lines(block) {
		if !strings.HasPrefix(line, "      ") && line != "\n" {
			break
		}
		caddyfile.WriteString(strings.TrimPrefix(line, "      "))
	}
	at := map[string]*node{}
	for _, address := range three {
		at[address] = startNode(t, address)
	}
	c := start(t, "caddy", "\n"+caddyfile.String(), at)()
	at[three[0]].ready.Store(false)
	for end := time.Now().Add(soon); asked(t, c, "/api/v1/models")[three[0]] > 0; {
		if time.Now().After(end) {
			t.Fatal("a node that takes no work is sent some")
		}
	}
	is := is.New(t)
	is.Equal(len(asked(t, c, "/console/")), 1)
	_, seen := ask(t, c, "/console/", nil, 0)
	is.Equal(seen, client+" https://"+site+", host "+site)
}
