package httpapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// site is a service on the network, with a key of Alice's.
type site struct {
	*testing.T
	is *is.I
	imagegentest.Running
	server *httptest.Server
	key    string
}

func serve(t *testing.T, o httpapi.Options, change ...func(*engine.Config)) *site {
	t.Helper()
	e := imagegentest.Start(t, change...)
	s := &site{T: t, is: is.New(t), Running: e, key: e.Key(t, imagegentest.Alice)}
	s.server = httptest.NewServer(httpapi.NewHandler(e.Engine, o))
	t.Cleanup(s.server.Close)
	return s
}

// answer is a response, read to its end.
type answer struct {
	*http.Response
	body string
}

// do sends a request, see there.
func (s *site) do(method, path, body string, header ...string) answer {
	s.Helper()
	return s.send(s.request(method, path, strings.NewReader(body), header...))
}

// request is one with Alice's key. header holds names and values in turn; a name that is there
// replaces what is sent otherwise, and the value "-" leaves it out.
func (s *site) request(method, path string, body io.Reader, header ...string) *http.Request {
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
	return r
}

func (s *site) send(r *http.Request) answer {
	s.Helper()
	response, err := transport.RoundTrip(r) // follows no redirect
	s.is.NoErr(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	s.is.NoErr(err)
	return answer{response, string(body)}
}

const generations = "/api/v1/images/generations"

// post asks for images with a JSON body.
func (s *site) post(body string, header ...string) answer {
	s.Helper()
	return s.do(http.MethodPost, generations, body, header...)
}

// fox is a JSON request with more fields, such as `,"n":2`.
func fox(more string) string {
	return `{"model":"fake-1","prompt":"a fox","size":"64x48"` + more + `}`
}

// refused checks status, code and form of an error, and returns its message.
func (s *site) refused(a answer, status int, code imagegen.Code) string {
	s.Helper()
	var body struct {
		Error struct{ Message, Code string }
	}
	d := json.NewDecoder(strings.NewReader(a.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil || a.StatusCode != status || body.Error.Code != string(code) {
		s.Fatalf("got %s %s; want %d %s", a.Status, a.body, status, code)
	}
	s.is.Equal(a.Header.Get("Content-Type"), "application/json")
	s.is.Equal(a.Header.Get("Cache-Control"), "no-store")
	s.is.True(body.Error.Message != "")
	return body.Error.Message
}

// generation is what the tests look at in a body.
type generation struct {
	ID, Status, Prompt, Size string
	N                        int
	RequestedQuality         string `json:"requested_quality"`
	ReferenceCount           int    `json:"reference_count"`
	Images                   []struct {
		ID, URL     string
		ContentType string `json:"content_type"`
	}
	PollURL string `json:"poll_url"`
}

// decoded reads the JSON of an answer of status 200.
func (s *site) decoded(a answer, v any) {
	s.Helper()
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.NoErr(json.Unmarshal([]byte(a.body), v))
}

// accepted checks the status and returns the generation in the body.
func (s *site) accepted(a answer, status int) (g generation) {
	s.Helper()
	if a.StatusCode != status {
		s.Fatalf("got %s %s; want %d", a.Status, a.body, status)
	}
	s.is.NoErr(json.Unmarshal([]byte(a.body), &g))
	return g
}

// until asks again and again until ok, which must come within a minute.
func (s *site) until(ok func() bool) {
	s.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatal("it did not come to pass within a minute")
		}
	}
}

// untouched checks that nothing was charged and nothing recorded.
func (s *site) untouched() {
	s.Helper()
	b, err := s.As(imagegentest.Alice).Balance(s.Context())
	s.is.NoErr(err)
	s.is.Equal(b.Credits, imagegen.Credits(100))
	p, err := s.As(imagegentest.Alice).Generations(s.Context(), imagegen.Query{})
	s.is.NoErr(err)
	s.is.Equal(len(p.Generations), 0)
}

// part is one part of a form: a file if it has a file name.
type part struct {
	name, value string
	file        string
	header      textproto.MIMEHeader // in place of what name and file make
}

const noName = "\x00" // a file part whose name is empty

func formOf(parts ...part) (contentType, body string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		h := p.header
		if h == nil {
			h = textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + p.name + `"`}}
			switch p.file {
			case "":
			case noName:
				h["Content-Disposition"][0] += `; filename=""`
			default:
				h["Content-Disposition"][0] += `; filename="` + p.file + `"`
			}
		}
		to, err := w.CreatePart(h)
		if err == nil {
			_, err = io.WriteString(to, p.value)
		}
		if err != nil {
			panic(err)
		}
	}
	w.Close()
	return w.FormDataContentType(), b.String()
}

// postForm asks for images with a form.
func (s *site) postForm(parts ...part) answer {
	s.Helper()
	contentType, body := formOf(parts...)
	return s.post(body, "Content-Type", contentType)
}

// foxForm is a form with more parts.
func foxForm(more ...part) []part {
	return append([]part{{name: "model", value: "fake-1"}, {name: "prompt", value: "a fox"},
		{name: "size", value: "64x48"}}, more...)
}

func picture(w, h int) string { return string(imagegentest.PNG(w, h)) }
