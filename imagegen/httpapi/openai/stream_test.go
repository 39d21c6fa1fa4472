package openai_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// event is one of a stream; a comment has no name.
type event struct{ name, data string }

// events reads a stream as the standard says, but strictly.
func events(t *testing.T, body string) (all []event) {
	t.Helper()
	for block := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		if strings.HasPrefix(block, ": ") {
			all = append(all, event{})
			continue
		}
		name, data, ok := strings.Cut(block, "\ndata: ")
		if !ok || !strings.HasPrefix(name, "event: ") || strings.Contains(data, "\n") {
			t.Fatalf("no event: %q", block)
		}
		all = append(all, event{strings.TrimPrefix(name, "event: "), data})
	}
	return all
}

func namesOf(all []event) (names []string) {
	for _, e := range all {
		names = append(names, e.name)
	}
	return names
}

type completed struct {
	Type, URL, Size, Quality, Background, ID string
	B64                                      []byte `json:"b64_json"`
	Format                                   string `json:"output_format"`
	Created                                  int64  `json:"created_at"`
}

type settled struct {
	Type, ID, Size     string
	Credits            imagegen.Credits
	Balance            struct{ Credits imagegen.Credits }
	Requested, Missing int
}

func TestStream(t *testing.T) {
	s := serve(t, openai.Options{})
	a := s.post(generations,
		`{"model":"fake-1","prompt":"[fake:images=2] a fox","size":"64x48","n":3,"stream":true,"partial_images":2}`)
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.Equal(a.Header.Get("Content-Type"), "text/event-stream")
	s.is.Equal(a.Header.Get("Cache-Control"), "no-store")
	all := events(t, a.body)
	s.is.Equal(cmp.Diff([]string{"image_generation.completed", "image_generation.completed",
		"image_generation.settled"}, namesOf(all)), "")
	var last settled
	s.is.NoErr(json.Unmarshal([]byte(all[2].data), &last))
	s.is.Equal(cmp.Diff(settled{"image_generation.settled", last.ID, "64x48", 2, struct{ Credits imagegen.Credits }{98},
		3, 1}, last), "")
	for _, e := range all[:2] {
		var c completed
		s.is.NoErr(json.Unmarshal([]byte(e.data), &c))
		s.decodes(c.B64, 64, 48)
		s.is.Equal(cmp.Diff([]string{e.name, "64x48", "auto", "auto", "png", last.ID},
			[]string{c.Type, c.Size, c.Quality, c.Background, c.Format, c.ID}), "")
		s.is.True(c.Created > 0)
	}
	s.is.Equal(a.Header.Get("Location"), s.server.URL+"/api/v1/generations/"+last.ID)
}

// Edits have events of their own, and addresses go with events too.
func TestStreamedEdit(t *testing.T) {
	s := serve(t, openai.Options{})
	all := events(t, s.post(edits, `{"prompt":"a fox","size":"64x48","stream":true,"response_format":"url","images":[`+
		link(dataURI(picture(30, 30)))+`]}`).body)
	s.is.Equal(cmp.Diff([]string{"image_edit.completed", "image_edit.settled"}, namesOf(all)), "")
	var c completed
	s.is.NoErr(json.Unmarshal([]byte(all[0].data), &c))
	s.is.True(c.B64 == nil && strings.HasPrefix(c.URL, s.server.URL+"/images/"))
}

// A failure before the stream begins is answered as ever.
func TestStreamThatDoesNotBegin(t *testing.T) {
	s := serve(t, openai.Options{})
	s.refused(s.post(generations, fox(`,"stream":true,"n":9`)), http.StatusBadRequest, imagegen.CodeInvalidRequest, "n")
	s.refused(s.post(generations, `{"prompt":"[fake:refuse]","stream":true}`), http.StatusBadRequest,
		imagegen.CodeGenerationFailed, "")
	s.refused(s.post(generations, fox(`,"stream":true`), "Authorization", "Bearer "+s.Key(t, "nobody")),
		http.StatusPaymentRequired, imagegen.CodeInsufficientCredits, "")
}

// impatient is a proxy's connection: it is cut when nothing comes for twenty seconds.
type impatient struct {
	net.Conn
	comments *[]time.Duration
	began    time.Time
}

const patience = 20 * time.Second

func (c impatient) Read(p []byte) (int, error) {
	c.SetReadDeadline(time.Now().Add(patience))
	n, err := c.Conn.Read(p)
	if strings.Contains(string(p[:n]), ": the images") {
		*c.comments = append(*c.comments, time.Since(c.began))
	}
	return n, err
}

// dial serves a request on a connection within the process, so that the test's clock governs it.
func dial(t *testing.T, r imagegentest.Running, body string) *http.Response {
	t.Helper()
	return dialAs(t, r, r.Key(t, imagegentest.Alice), body)
}

func dialAs(t *testing.T, r imagegentest.Running, key, body string) *http.Response {
	t.Helper()
	is := is.New(t)
	near := imagegentest.Piped(t, httpapi.NewServer(openai.NewHandler(r.Authenticate, openai.Options{})))()
	_, err := fmt.Fprintf(near,
		"POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", generations, key, len(body), body)
	is.NoErr(err)
	var comments []time.Duration
	conn := impatient{near, &comments, time.Now()}
	t.Cleanup(func() {
		for i, at := range comments {
			is.Equal(at, time.Duration(i+1)*15*time.Second)
		}
	})
	a, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("the proxy cut the connection: %v", err)
	}
	return a
}

// Work of forty seconds, through a proxy that cuts after twenty seconds of silence: the images arrive.
func TestStreamThroughAnImpatientProxy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a := dial(t, imagegentest.Start(t), `{"prompt":"[fake:delay=40s] a fox","size":"64x48","n":2,"stream":true}`)
		b, err := io.ReadAll(a.Body)
		is.NoErr(err)
		is.Equal(cmp.Diff([]string{"", "", "image_generation.completed", "image_generation.completed",
			"image_generation.settled"}, namesOf(events(t, string(b)))), "")
	})
}

// An image is sent when it may be shown, not when all are there; none is sent twice.
func TestImagesBeforeTheEndOfAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := imagegentest.Start(t)
		body := dial(t, r,
			`{"prompt":"[fake:each=20s] a fox","size":"64x48","n":3,"stream":true,"response_format":"url"}`).Body
		began := time.Now()
		var seen []string
		for read := bufio.NewReader(body); ; {
			e, err := next(read)
			if err == io.EOF {
				break
			}
			is.NoErr(err)
			if e.name == "" {
				continue
			}
			p, err := r.As(imagegentest.Alice).Generations(t.Context(), imagegen.Query{})
			is.NoErr(err)
			var c completed
			is.NoErr(json.Unmarshal([]byte(e.data), &c))
			is.Equal(c.ID, string(p.Generations[0].ID))
			seen = append(seen, fmt.Sprintf("%s %s %d s", e.name, p.Generations[0].Status,
				time.Since(began).Round(time.Second)/time.Second))
			is.Equal(c.URL != "", e.name == "image_generation.completed")
			if i := len(seen) - 1; c.URL != "" {
				is.True(strings.HasSuffix(c.URL, string(p.Generations[0].Images[i].ID))) // each once, in their order
			}
		}
		is.Equal(cmp.Diff([]string{
			"image_generation.completed processing 0 s",
			"image_generation.completed processing 20 s",
			"image_generation.completed succeeded 40 s",
			"image_generation.settled succeeded 40 s",
		}, seen), "")
	})
}

// next reads an event, or a comment.
func next(r *bufio.Reader) (e event, err error) {
	for {
		line, err := r.ReadString('\n')
		if line == "\n" || err != nil {
			return e, err
		}
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			e.name = strings.TrimSpace(name)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			e.data = data
		}
	}
}

// A failure after the beginning of the stream comes in an event, with its code.
func TestStreamThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a := dial(t, imagegentest.Start(t), `{"prompt":"[fake:delay=40s] [fake:refuse]","size":"64x48","stream":true}`)
		is.Equal(a.StatusCode, http.StatusOK)
		b, err := io.ReadAll(a.Body)
		is.NoErr(err)
		all := events(t, string(b))
		is.Equal(cmp.Diff([]string{"", "", "error"}, namesOf(all)), "")
		var body failed
		is.NoErr(json.Unmarshal([]byte(all[2].data), &body))
		is.Equal(body.Error.Code, imagegen.CodeGenerationFailed)
		is.Equal(body.Error.Type, "invalid_request_error")
	})
}

// A panic beneath a stream that has begun cuts it off, and nobody takes it for a whole one.
func TestPanicBeneathAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer func() { is.New(t).Equal(recover(), http.ErrAbortHandler) }()
		h := openai.NewHandler(func(context.Context, string) (openai.Session, error) {
			return &stub{panics: true}, nil
		}, openai.Options{})
		r := httptest.NewRequest(http.MethodPost, generations,
			strings.NewReader(`{"model":"m","prompt":"a fox","stream":true}`))
		r.Header = http.Header{"Authorization": {"Bearer k"}, "Content-Type": {"application/json"}}
		h.ServeHTTP(httptest.NewRecorder(), r)
		t.Error("it did not panic")
	})
}

// A stream ends with its key: no further image comes, and the error is that of the key.
func TestStreamOfARevokedKey(t *testing.T) {
	for name, c := range map[string]struct {
		prompt string
		at     time.Duration // of the revocation
		names  []string
	}{
		"between images": {"[fake:each=50s] a fox", 20 * time.Second, []string{"image_generation.completed", "",
			"error"}},
		"at the end": {"[fake:delay=34s] a fox", 31 * time.Second, []string{"", "", "error"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				r := imagegentest.Start(t)
				raw, key, err := r.Accounts().MintKey(t.Context(), imagegentest.Alice, "k", time.Time{})
				is.NoErr(err)
				began := time.Now()
				time.AfterFunc(c.at, func() {
					_, err := r.Accounts().RevokeKey(context.Background(), key.ID)
					is.NoErr(err)
				})
				a := dialAs(t, r, raw.Reveal(), `{"prompt":"`+c.prompt+
					`","size":"64x48","n":2,"stream":true,"response_format":"url"}`)
				b, err := io.ReadAll(a.Body)
				is.NoErr(err)
				is.True(time.Since(began) <= c.at+15*time.Second)
				all := events(t, string(b))
				is.Equal(cmp.Diff(c.names, namesOf(all)), "")
				var body failed
				is.NoErr(json.Unmarshal([]byte(all[len(all)-1].data), &body))
				is.Equal(body.Error.Code, imagegen.CodeInvalidKey)
			})
		})
	}
}

// A stream that has not begun when its key ends is answered with a status. A call without a stream was charged before,
// and gets its own answer.
func TestAnswersToARevokedKey(t *testing.T) {
	for more, status := range map[string]int{`,"stream":true`: http.StatusUnauthorized, "": http.StatusOK} {
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			r := imagegentest.Start(t)
			raw, key, err := r.Accounts().MintKey(t.Context(), imagegentest.Alice, "k", time.Time{})
			is.NoErr(err)
			time.AfterFunc(time.Second, func() {
				_, err := r.Accounts().RevokeKey(context.Background(), key.ID)
				is.NoErr(err)
			})
			is.Equal(dialAs(t, r, raw.Reveal(), `{"prompt":"[fake:delay=5s] a fox","size":"64x48"`+more+`}`).StatusCode,
				status)
		})
	}
}
