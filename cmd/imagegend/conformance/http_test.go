package conformance_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen/httpapi/openapi/openapitest"
)

// request is one request to a service.
type request struct {
	method  string   // "": GET
	address string   // a path, or an address that the service named
	key     string   // "": no Authorization
	header  []string // names and values in turn; a name may come twice
	body    io.Reader
}

// answer is one answer, read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// transport follows no redirect, asks for nothing compressed and adds no header of its own that
// matters. What answers hold is held to the OpenAPI document.
var transport = openapitest.New().Transport(&http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64})

// send sends a request. An error means that no whole answer came.
func (s *service) send(q *http.Request) (answer, error) {
	response, err := transport.RoundTrip(q)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, body}, err
}

// call sends a request that must be answered.
func (s *service) call(t *testing.T, r request) answer {
	t.Helper()
	a, err := s.send(s.request(t, r))
	if err != nil {
		t.Fatalf("%s %s: %v", r.method, r.address, err)
	}
	return a
}

func (s *service) request(t *testing.T, r request) *http.Request {
	t.Helper()
	address := r.address
	if strings.HasPrefix(address, "/") {
		address = s.url + address
	}
	q, err := http.NewRequestWithContext(t.Context(), r.method, address, r.body)
	if err != nil {
		t.Fatal(err)
	}
	if r.key != "" {
		q.Header.Set("Authorization", "Bearer "+r.key)
	}
	for pair := range slices.Chunk(r.header, 2) {
		if pair[0] == "Host" {
			q.Host = pair[1]
			continue
		}
		q.Header.Add(pair[0], pair[1])
	}
	return q
}

// raw sends bytes as they are and reads the answer to them.
func (s *service) raw(t *testing.T, sent string) answer {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(c, sent); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%q: %v", sent, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%q: %v", sent, err)
	}
	return answer{response.StatusCode, response.Header, body}
}

// image reads a picture, which takes no key.
func (s *service) image(t *testing.T, url any) image.Image {
	t.Helper()
	a := s.call(t, request{address: url.(string)}).is(t, http.StatusOK)
	picture, err := png.Decode(bytes.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// is checks the status.
func (a answer) is(t *testing.T, status int) answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

// has checks headers, given as names and values in turn. A value is a string, "" for a header that
// must not be there, or a pattern.
func (a answer) has(t *testing.T, header ...any) answer {
	t.Helper()
	for pair := range slices.Chunk(header, 2) {
		got := strings.Join(a.header.Values(pair[0].(string)), ", ")
		if p, ok := pair[1].(pattern); ok && p.fits(got) {
			continue
		}
		if got != pair[1] {
			t.Errorf("%s is %q, want %q", pair[0], got, pair[1])
		}
	}
	return a
}

// refused checks that the answer is an error: its status and code, nothing in the body but message
// and code, and what the message must mention.
func (a answer) refused(t *testing.T, status int, code string, mentions ...string) answer {
	t.Helper()
	a.is(t, status).has(t, "Content-Type", "application/json", "Cache-Control", "no-store", "X-Content-Type-Options",
		"nosniff")
	body := a.object(t)
	same(t, body, object{"error": object{"message": pattern(".+"), "code": code}})
	for _, word := range mentions {
		if message, _ := body["error"].(object)["message"].(string); !strings.Contains(message, word) {
			t.Errorf("the message does not mention %q: %s", word, message)
		}
	}
	return a
}

// object is a JSON object. Integers in it are ints.
type object = map[string]any

// object reads the body, which is one JSON object.
func (a answer) object(t *testing.T) object {
	t.Helper()
	return decode[object](t, a.body)
}

// decode reads JSON: a T and nothing after it.
func decode[T any](t *testing.T, b []byte) T {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	if _, more := d.Token(); err != nil || more != io.EOF {
		t.Fatalf("not one JSON value: %v: %.300s", err, b)
	}
	typed, ok := integers(v).(T)
	if !ok {
		t.Fatalf("JSON of another type: %.300s", b)
	}
	return typed
}

// integers makes ints of the whole numbers in a JSON value.
func integers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return int(n)
		}
	case object:
		for name := range v {
			v[name] = integers(v[name])
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	}
	return v
}

func encode(t *testing.T, v any) io.Reader {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b)
}

// pattern is a regular expression that stands for every string that it fits as a whole.
type pattern string

func (p pattern) fits(v any) bool {
	s, ok := v.(string)
	return ok && regexp.MustCompile("^(?:"+string(p)+")$").MatchString(s)
}

var patterns = cmp.FilterValues(
	func(x, y any) bool { return isPattern(x) != isPattern(y) },
	cmp.Comparer(func(x, y any) bool {
		if p, ok := x.(pattern); ok {
			return p.fits(y)
		}
		return y.(pattern).fits(x)
	}),
)

func isPattern(v any) bool { _, ok := v.(pattern); return ok }

// same compares what came with what is wanted, in which patterns may stand.
func same(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, patterns); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
