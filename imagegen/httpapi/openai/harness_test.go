package openai_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// site is a service on the network, with a key of Alice's, who has 100 credits.
type site struct {
	*testing.T
	is *is.I
	imagegentest.Running
	handler http.Handler
	server  *httptest.Server
	key     string
}

func serve(t *testing.T, o openai.Options, change ...func(*engine.Config)) *site {
	t.Helper()
	return put(t, imagegentest.Start(t, change...), o)
}

// put puts a service on the network.
func put(t *testing.T, e imagegentest.Running, o openai.Options) *site {
	t.Helper()
	s := &site{T: t, is: is.New(t), Running: e, handler: openai.NewHandler(e.Authenticate, o)}
	s.key = e.Key(t, imagegentest.Alice)
	s.server = httptest.NewServer(s.handler)
	t.Cleanup(s.server.Close)
	return s
}

// run is Run with a site of the part.
func (s *site) run(name string, part func(s *site)) {
	s.Run(name, func(t *testing.T) {
		s := *s
		s.T, s.is = t, is.New(t)
		part(&s)
	})
}

// answer is a response, read to its end.
type answer struct {
	*http.Response
	body string
}

// do sends a request with Alice's key. header holds names and values in turn; the value "-" leaves a header out.
func (s *site) do(method, path string, body io.Reader, header ...string) answer {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.server.URL+path, body)
	s.is.NoErr(err)
	r.Header.Set("Authorization", "Bearer "+s.key)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for pair := range slices.Chunk(header, 2) {
		if r.Header.Del(pair[0]); pair[1] != "-" {
			r.Header.Set(pair[0], pair[1])
		}
	}
	response, err := transport.RoundTrip(r) // follows no redirect
	s.is.NoErr(err)
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	s.is.NoErr(err)
	return answer{response, string(b)}
}

const (
	generations = "/v1/images/generations"
	edits       = "/v1/images/edits"
)

func (s *site) post(path, body string, header ...string) answer {
	s.Helper()
	return s.do(http.MethodPost, path, strings.NewReader(body), header...)
}

// fox is a JSON request with more fields, such as `,"n":2`.
func fox(more string) string { return `{"model":"fake-1","prompt":"a fox","size":"64x48"` + more + `}` }

// failed is the body of an error.
type failed struct {
	Error struct {
		Message, Type string
		Param         *string
		Code          imagegen.Code
	}
}

// refused checks status, code, parameter ("": null) and form of an error, and returns its message.
func (s *site) refused(a answer, status int, code imagegen.Code, param string) string {
	s.Helper()
	var body failed
	d := json.NewDecoder(strings.NewReader(a.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil || a.StatusCode != status || body.Error.Code != code {
		s.Fatalf("got %s %s; want %d %s", a.Status, a.body, status, code)
	}
	var named string
	if body.Error.Param != nil {
		named = *body.Error.Param
	}
	s.is.Equal(named, param)
	s.is.True(strings.Contains(a.body, `"param":`))
	s.is.True(body.Error.Type != "" && body.Error.Message != "")
	s.is.Equal(a.Header.Get("Content-Type"), "application/json")
	s.is.Equal(a.Header.Get("Cache-Control"), "no-store")
	return body.Error.Message
}

// images is the body of a success.
type images struct {
	Created int64
	Data    []struct {
		B64 []byte `json:"b64_json"`
		URL string
	}
	Size, Quality, Background, ID string
	Format                        string `json:"output_format"`
	Credits                       imagegen.Credits
	Balance                       struct{ Credits imagegen.Credits }
}

// made checks a success and returns it.
func (s *site) made(a answer) (got images) {
	s.Helper()
	if a.StatusCode != http.StatusOK {
		s.Fatalf("got %s %s", a.Status, a.body)
	}
	s.is.NoErr(json.Unmarshal([]byte(a.body), &got))
	s.is.Equal(a.ContentLength, int64(len(a.body)))
	return got
}

// pictures checks that all images of an answer decode, and have a size.
func (s *site) pictures(got images, n, width, height int) {
	s.Helper()
	s.is.Equal(len(got.Data), n)
	for _, d := range got.Data {
		s.decodes(d.B64, width, height)
	}
}

func (s *site) decodes(b []byte, width, height int) {
	s.Helper()
	m, _, err := image.Decode(bytes.NewReader(b))
	s.is.NoErr(err)
	s.is.Equal(m.Bounds(), image.Rect(0, 0, width, height))
}

// credits checks what Alice has.
func (s *site) credits(want imagegen.Credits) {
	s.Helper()
	b, err := s.As(imagegentest.Alice).Balance(s.Context())
	s.is.NoErr(err)
	s.is.Equal(b.Credits, want)
}

// untouched checks that nothing was charged and nothing recorded.
func (s *site) untouched() {
	s.Helper()
	s.credits(100)
	p, err := s.As(imagegentest.Alice).Generations(s.Context(), imagegen.Query{})
	s.is.NoErr(err)
	s.is.Equal(len(p.Generations), 0)
}

func dataURI(bytes string) string {
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(bytes))
}

func picture(w, h int) string { return string(imagegentest.PNG(w, h)) }
