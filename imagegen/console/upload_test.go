package console_test

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// file is a reference image as it is sent.
type file struct {
	name  string
	bytes []byte
}

// formOf writes a form with files, as a browser does.
func formOf(files []file, pairs ...string) (contentType string, body []byte) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		w.WriteField(pairs[i], pairs[i+1])
	}
	for _, f := range files {
		part, _ := w.CreateFormFile("reference_image", f.name)
		part.Write(f.bytes)
	}
	w.Close() // all of it into memory
	return w.FormDataContentType(), b.Bytes()
}

// postFiles sends a form with files.
func (v *visitor) postFiles(path string, files []file, pairs ...string) answer {
	v.Helper()
	contentType, body := formOf(files, pairs...)
	return v.do(http.MethodPost, path, bytes.NewReader(body), "Content-Type", contentType, "Sec-Fetch-Site",
		"same-origin")
}

// announced is a spool that reports each file that begins to arrive.
type announced struct {
	imagegen.Spool
	came chan struct{}
}

func (a announced) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	a.came <- struct{}{}
	return a.Spool.Stage(ctx, id, r)
}

// References are removed after their use.
func TestReferences(t *testing.T) {
	spool := new(imagegentest.CountedSpool)
	s := openOver(t, spool.Watch)
	v := s.signedIn("alice")
	v.grant(10)
	// the last: a field left empty
	files := []file{{"a.png", picture(20, 20)}, {`c:\fox "1".png`, picture(21, 20)}, {"", nil}}
	a := v.postFiles("playground", files, small("token", "t")...)
	s.is.Equal(a.StatusCode, http.StatusSeeOther)
	g := v.reaches(v.made()[0].ID, imagegen.StatusSucceeded)
	s.is.Equal(g.ReferenceCount, 2)
	s.eventually(func() bool { return spool.Held() == 0 }) // files are removed after the outcome is written
	s.is.Equal(spool.Staged(), 2)
	s.is.Equal(v.get("generations/" + string(g.ID)).facts()["References"], "2")

	again := v.postFiles("playground", files, small("token", "t")...) // the same once more is the same generation
	s.is.Equal(again.redirected(), a.redirected())
	s.is.Equal([]int{spool.Held(), spool.Staged()}, []int{0, 4})
	other := v.postFiles("playground", files[:1], small("token", "t")...)
	s.is.Equal(other.StatusCode, http.StatusConflict)
	s.is.True(other.has("Choose the images again"))
	s.is.Equal(spool.Held(), 0)
}

// If a file or another field is wrong, nothing is charged and no file is kept.
func TestUnfitReferences(t *testing.T) {
	two := 2
	spool := new(imagegentest.CountedSpool)
	s := openOver(t, func(c *engine.Config) {
		spool.Watch(c)
		c.Models = append(c.Models, engine.Model{ID: "few", Provider: c.Models[0].Provider, MaxReferences: &two,
			Credits: c.Models[0].Credits})
	})
	v := s.signedIn("alice")
	v.grant(3)
	good := file{"fox.png", picture(20, 20)}
	many := func(n int) (files []file) {
		for range n {
			files = append(files, good)
		}
		return files
	}
	for name, c := range map[string]struct {
		files  []file
		pairs  []string
		status int
		fault  string
	}{
		"no image": {[]file{good, {"notes.txt", []byte("no image")}, good}, nil, 422,
			"notes.txt is not a PNG, JPEG or WebP image"},
		"damaged": {[]file{good, {"half.png", good.bytes[:20]}}, nil, 422,
			"half.png cannot be used: the image is not whole: it ends early"},
		"empty":          {[]file{good, {"empty.png", nil}}, nil, 422, "empty.png is empty"},
		"no name":        {[]file{good, {"", []byte("x")}}, nil, 422, "image 2 is not a PNG"},
		"too many":       {many(17), nil, 422, "More than 16 images were chosen; send fewer."},
		"of the model":   {many(3), []string{"model", "few"}, 422, "3 images were chosen; few takes 2 at most."},
		"no prompt":      {many(2), []string{"prompt", ""}, 422, ""},
		"too poor":       {many(2), []string{"n", "4"}, 402, ""},
		"cost":           {many(2), []string{"show", "cost"}, 200, ""},
		"another model":  {many(2), []string{"show", "model", "model", "few"}, 200, ""},
		"a bad token":    {many(2), []string{"token", "two words"}, 422, ""},
		"a bad prompt":   {many(2), []string{"prompt", "[fake:nonsense]"}, 422, ""},
		"too much text":  {many(2), []string{"more", strings.Repeat("x", 1<<20)}, 400, ""},
		"no UTF-8":       {many(2), []string{"more", "\xff"}, 400, ""},
		"far too long a": {many(2), []string{"prompt", strings.Repeat("x", 40_000)}, 422, ""},
	} {
		t.Run(name, func(t *testing.T) {
			pairs := map[string]string{"prompt": "a <fox>", "ratio": "own", "width": "64", "height": "48"}
			for i := 0; i < len(c.pairs); i += 2 {
				pairs[c.pairs[i]] = c.pairs[i+1]
			}
			var all []string
			for name, value := range pairs {
				all = append(all, name, value)
			}
			before := spool.Staged()
			a := v.postFiles("playground", c.files, all...)
			if a.StatusCode != c.status || !strings.HasPrefix(a.fault("reference_image"), c.fault) ||
				(c.fault == "") != (a.fault("reference_image") == "") {
				t.Errorf("%s; %q", a.Status, a.fault("reference_image"))
			}
			if a.StatusCode != http.StatusBadRequest && (a.entered()["prompt"] != pairs["prompt"] ||
				a.entered()["width"] != "64" || !a.has("Choose the images again") && pairs["model"] == "") {
				t.Errorf("what was entered is lost: %.60q", a.entered())
			}
			if staged := spool.Staged() - before; spool.Held() != 0 || staged == 0 &&
				c.status != http.StatusBadRequest {
				t.Errorf("%d files are left of %d", spool.Held(), staged)
			}
		})
	}
	s.is.Equal(v.balance(), imagegen.Credits(3))
	s.is.Equal(len(v.made()), 0)
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A file that is too large does not discard the other fields.
func TestLargeReference(t *testing.T) {
	spool := new(imagegentest.CountedSpool)
	s := openOver(t, spool.Watch)
	v := s.signedIn("alice")
	v.grant(10)
	contentType, body := formOf([]file{{"small.png", picture(20, 20)}, {"large.png", []byte("FILE")}}, small()...)
	before, after, _ := bytes.Cut(body, []byte("FILE"))
	large := io.MultiReader(bytes.NewReader(before), io.LimitReader(zeros{}, imagegen.MaxReferenceBytes+1),
		bytes.NewReader(after))
	a := v.do(http.MethodPost, "playground", large, "Content-Type", contentType, "Sec-Fetch-Site", "same-origin")
	s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
	s.is.Equal(a.fault("reference_image"), "large.png is larger than 52428800 bytes (50 MiB).")
	s.is.Equal(a.entered()["prompt"], "a fox")
	s.is.Equal([]int{spool.Held(), spool.Staged()}, []int{0, 1})
	s.is.Equal(v.balance(), imagegen.Credits(10))
}

// failing is a body that ends with an error.
type failing struct {
	io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err == io.EOF {
		err = f.err
	}
	return n, err
}

// A form that cannot be read is refused with advice, and none of its files is kept.
func TestUnreadableForm(t *testing.T) {
	spool := new(imagegentest.CountedSpool)
	s := openOver(t, spool.Watch)
	v := s.signedIn("alice")
	v.grant(10)
	contentType, body := formOf([]file{{"a.png", picture(20, 20)}, {"b.png", picture(21, 20)}}, small()...)
	cut := body[:len(body)-100] // within the second file
	type sent struct {
		body        io.Reader
		contentType string
		length      int64
	}
	for name, c := range map[string]struct {
		sent
		says string
	}{
		"cut short": {sent{bytes.NewReader(cut), contentType, -1},
			"The form is malformed or ended early; send it again."},
		"too slow": {sent{&failing{bytes.NewReader(cut), os.ErrDeadlineExceeded}, contentType, -1},
			"The images came too slowly; send them again, or smaller ones."},
		"too large": {sent{&failing{bytes.NewReader(cut), &http.MaxBytesError{Limit: 1}}, contentType, -1},
			"The images are too large together; send fewer, or smaller ones."},
		"larger": {sent{bytes.NewReader(body), contentType, 1 << 40},
			"The images are too large together; send fewer, or smaller ones."},
		"no boundary": {sent{bytes.NewReader(body), "multipart/form-data", -1},
			"The form is malformed or ended early; send it again."},
		"no name": {sent{strings.NewReader("--b\r\n\r\nx\r\n--b--\r\n"), "multipart/form-data; boundary=b", -1},
			"Each part needs a header"},
	} {
		t.Run(name, func(t *testing.T) {
			r := v.request(http.MethodPost, "playground", c.body, "Content-Type", c.contentType, "Sec-Fetch-Site",
				"same-origin")
			r.ContentLength = c.length
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), c.says) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if spool.Held() != 0 {
				t.Errorf("%d files are left", spool.Held())
			}
		})
	}
	s.is.Equal(v.balance(), imagegen.Credits(10))
	s.is.Equal(len(v.made()), 0)
}

// nobody is a connection whose browser has gone.
type nobody struct{}

func (nobody) Header() http.Header         { return http.Header{} }
func (nobody) Write(b []byte) (int, error) { return 0, net.ErrClosed }
func (nobody) WriteHeader(int)             {}

// aborted reports whether a handler cut its answer off.
func aborted(serve func()) (cut bool) {
	defer func() {
		if v := recover(); v != nil {
			cut = v == http.ErrAbortHandler
		}
	}()
	serve()
	return false
}

// If a browser hangs up within a file, nothing is kept.
func TestHangUpInMidUpload(t *testing.T) {
	spool, came := new(imagegentest.CountedSpool), make(chan struct{}, 2)
	s := openOver(t, func(c *engine.Config) {
		spool.Watch(c)
		c.Spool = announced{c.Spool, came}
	})
	v := s.signedIn("alice")
	v.grant(10)
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		s.ServeHTTP(w, r)
	}))
	defer server.Close()
	contentType, body := formOf([]file{{"a.png", picture(20, 20)}, {"b.png", picture(400, 400)}}, small()...)
	r := v.request(http.MethodPost, "playground", nil)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	s.is.NoErr(err)
	_, err = io.WriteString(conn, "POST /console/playground HTTP/1.1\r\nHost: x\r\nCookie: "+r.Header.Get("Cookie")+
		"\r\nSec-Fetch-Site: same-origin\r\n"+
		"Content-Type: "+contentType+"\r\nContent-Length: 1000000\r\n\r\n")
	s.is.NoErr(err)
	_, err = conn.Write(body[:len(body)-200])
	s.is.NoErr(err)
	<-came // the first file
	<-came // amid the second
	s.is.NoErr(conn.Close())
	<-ended
	s.is.Equal([]int{spool.Held(), spool.Staged()}, []int{0, 1})
	s.is.Equal(v.balance(), imagegen.Credits(10))
	s.is.Equal(len(v.made()), 0)
}

// patient is a ResponseWriter that records the deadline for writing.
type patient struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (w *patient) SetWriteDeadline(t time.Time) error {
	w.until = t
	return nil
}

func (w *patient) SetReadDeadline(time.Time) error { return nil }

// Files may take longer to arrive than an answer may to be fetched: over HTTP/2 the deadline of the
// answer would cut them off.
func TestFilesHaveNoAnswersDeadline(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(1)
	contentType, form := formOf([]file{{"fox.png", picture(20, 20)}}, small()...)
	w := &patient{ResponseRecorder: httptest.NewRecorder()}
	meanwhile := time.Now()
	body := readFunc(func(p []byte) (int, error) {
		meanwhile = w.until
		n := copy(p, form)
		if form = form[n:]; n == 0 {
			return 0, io.EOF
		}
		return n, nil
	})
	s.ServeHTTP(w, v.request(http.MethodPost, "playground", body, "Content-Type", contentType, "Sec-Fetch-Site",
		"same-origin"))
	s.is.Equal(w.Code, http.StatusSeeOther)
	s.is.True(meanwhile.IsZero())
	s.is.True(!w.until.IsZero())
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
