package conformance_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// displayed is the size in which the files of this test are displayed, whatever their orientation.
var displayed = image.Pt(48, 64)

// turned is a reference image and its mask, both with an orientation.
type turned struct {
	prompt          string // its own, and the idempotency key
	reference, mask []byte
	dir             string // has the two as files: reference and mask
}

func turnedFiles(t *testing.T, prompt string, f imagegen.Format, orientation int) turned {
	t.Helper()
	q := turned{prompt: prompt, dir: t.TempDir(), reference: imagegentest.Turned(f, orientation, displayed.X,
		displayed.Y),
		mask: imagegentest.TurnedMask(orientation, displayed.X, displayed.Y)}
	write(t, string(q.reference), q.dir, "reference")
	write(t, string(q.mask), q.dir, "mask")
	return q
}

// checkOrientation sends files of every orientation and format by every interface, each request twice as a client does
// that has lost an answer. The upstream is asked once: for the ratio in which the reference is displayed, with upright
// files.
func checkOrientation(t *testing.T) {
	edits := &editor{asked: map[string][]edit{}}
	upstream := httptest.NewServer(edits)
	t.Cleanup(upstream.Close)
	models := settings{models: `{models: [{id: editor, credits: {1K: 1}, provider: {type: openai, private: true, sizes: [1024x1024, 1024x768, 768x1024],
		base_url: ` + upstream.URL + `/v1}}]}`}.modelsFile(t)
	const olivia, password, credits = "olivia", "correct horse battery", 1000
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--models", models, "--operator-name", olivia,
		"--operator-password-file", write(t, password, t.TempDir(), "password")}})
	s := serviceOf(d)
	s.grant(t, olivia, credits, 0)
	a := &customer{service: s, user: olivia, key: s.createKey(t, olivia, 0)}
	unmasked := map[string]bool{"tools": true}
	interfaces := map[string]func(*testing.T, turned){
		"form":       a.sendForm,
		"shape-form": a.sendShapeForm,
		"shape-json": a.sendShapeJSON,
		"client":     a.sendByClient,
		"console":    a.sendByConsole(t, password),
		"command":    a.sendByCommand,
		"tools":      a.sendByTools(t),
	}
	t.Run("by", func(t *testing.T) {
		for name, send := range interfaces {
			for _, f := range imagegen.Formats() {
				t.Run(name+"-"+string(f), func(t *testing.T) {
					t.Parallel()
					for _, o := range imagegentest.Orientations() {
						q := turnedFiles(t, fmt.Sprintf("%s-%s-%d", name, f, o), f, o)
						send(t, q)
						edits.check(t, q.prompt, !unmasked[name])
					}
				})
			}
		}
	})
	d.AllEnded(t, a.key, time.Minute)
	all := d.MustGenerations(t, a.key, "succeeded")
	is.New(t).Equal(len(all), len(interfaces)*len(imagegen.Formats())*len(imagegentest.Orientations()))
	d.Settled(t, a.key, credits)
}

// replayed checks that the second of two answers is that to the first request again.
func replayed(t *testing.T, send func() answer) {
	t.Helper()
	first, second := send().is(t, http.StatusOK), send().is(t, http.StatusOK)
	second.has(t, "Idempotent-Replayed", "true")
	if !bytes.Equal(first.body, second.body) {
		t.Errorf("the first answer was\n%.500s\nand the second\n%.500s", first.body, second.body)
	}
}

// upload is a request for images as a form whose answer may get lost.
func (a *customer) upload(t *testing.T, path string, q turned, parts ...part) answer {
	t.Helper()
	contentType, body := writeForm(t, append(parts, part{name: "model", value: "editor"},
		part{name: "prompt", value: q.prompt}, part{name: "mask", value: string(q.mask), file: "mask"}))
	return a.call(t, request{method: http.MethodPost, address: path, key: a.key, body: strings.NewReader(body),
		header: []string{"Content-Type", contentType, "Idempotency-Key", q.prompt}})
}

func (a *customer) sendForm(t *testing.T, q turned) {
	replayed(t, func() answer {
		return a.upload(t, generationsPath, q, part{name: "reference_image", value: string(q.reference),
			file: "reference"})
	})
}

const editsPath = "/v1/images/edits"

func (a *customer) sendShapeForm(t *testing.T, q turned) {
	replayed(t, func() answer {
		return a.upload(t, editsPath, q, part{name: "image", value: string(q.reference), file: "reference"})
	})
}

func (a *customer) sendShapeJSON(t *testing.T, q turned) {
	link := func(file []byte) object {
		return object{"image_url": "data:" + http.DetectContentType(file) + ";base64," +
			base64.StdEncoding.EncodeToString(file)}
	}
	replayed(t, func() answer {
		body := encode(t, object{"model": "editor", "prompt": q.prompt, "images": []object{link(q.reference)},
			"mask": link(q.mask)})
		return a.call(t, request{method: http.MethodPost, address: editsPath, key: a.key, body: body,
			header: []string{"Content-Type", "application/json", "Idempotency-Key", q.prompt}})
	})
}

// file is a reference in memory.
type file []byte

func (f file) Open(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(f)), nil
}

func (a *customer) sendByClient(t *testing.T, q turned) {
	is := is.New(t)
	c, err := client.New(a.url, a.key, nil)
	is.NoErr(err)
	generate := func() imagegen.Result {
		r, err := c.Generate(t.Context(), imagegen.GenerateRequest{Model: "editor", Prompt: q.prompt,
			IdempotencyKey: q.prompt, References: []imagegen.Reference{file(q.reference)}, Mask: file(q.mask)})
		is.NoErr(err)
		return r
	}
	first, second := generate(), generate()
	is.Equal(first.ID, second.ID)
	is.True(second.Replayed)
}

// sendByConsole signs in and sends the form of the playground, whose token is the idempotency key.
func (a *customer) sendByConsole(t *testing.T, password string) func(*testing.T, turned) {
	signIn := url.Values{"name": {a.user}, "password": {password}}.Encode()
	cookie := a.call(t, request{method: http.MethodPost, address: "/console/signin", body: strings.NewReader(signIn),
		header: []string{"Content-Type", "application/x-www-form-urlencoded"}}).is(t, http.StatusSeeOther).
		header.Get("Set-Cookie")
	return func(t *testing.T, q turned) {
		contentType, body := writeForm(t, []part{{name: "prompt", value: q.prompt}, {name: "token", value: q.prompt},
			{name: "reference_image", value: string(q.reference), file: "reference"},
			{name: "mask", value: string(q.mask), file: "mask"}})
		send := func() string {
			return a.call(t, request{method: http.MethodPost, address: "/console/playground",
				body: strings.NewReader(body), header: []string{"Content-Type", contentType, "Cookie", cookie}}).
				is(t, http.StatusSeeOther).header.Get("Location")
		}
		first, second := send(), send()
		same(t, first, pattern(".*result=gen_.*"))
		same(t, second, first)
		at, _ := url.Parse(first)
		a.ended(t, at.Query().Get("result"))
	}
}

// sendByCommand loses the first answer, which the command repeats the request for.
func (a *customer) sendByCommand(t *testing.T, q turned) {
	p := program{dir: q.dir, env: []string{"IMAGEGEND_URL=" + losing(t, a.url), "IMAGEGEND_API_KEY=" + a.key}}
	p.run(t, "generate", q.prompt, "--ref", "reference", "--mask", "mask", "-o", "image.png").succeeds(t)
	same(t, len(files(t, q.dir)), 3)
}

// sendByTools has an agent use a file in its directory. A tool takes no mask and no idempotency key: the server of the
// tools repeats what is not answered.
func (a *customer) sendByTools(t *testing.T) func(*testing.T, turned) {
	is, dir := is.New(t), t.TempDir()
	command := exec.Command(daemontest.Build(t), "mcp", "--dir", dir, "--url", losing(t, a.url), "--api-key", a.key)
	agent := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := agent.Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
	is.NoErr(err)
	t.Cleanup(func() { session.Close() })
	return func(t *testing.T, q turned) {
		name := filepath.Base(write(t, string(q.reference), dir, q.prompt))
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "generate_image",
			Arguments: object{"prompt": q.prompt, "references": []string{name}}})
		is := is.New(t)
		is.NoErr(err)
		is.True(!r.IsError)
	}
}

// losing passes requests on, and loses the first answer to each idempotency key.
func losing(t *testing.T, to string) (address string) {
	t.Helper()
	target, err := url.Parse(to)
	is.New(t).NoErr(err)
	forward := httputil.NewSingleHostReverseProxy(target)
	var lost sync.Map
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key := r.Header.Get("Idempotency-Key"); key != "" {
			if _, again := lost.LoadOrStore(key, true); !again {
				forward.ServeHTTP(httptest.NewRecorder(), r)
				panic(http.ErrAbortHandler)
			}
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// editor is a stand-in for OpenAI's edits. It keeps what it was asked for with each prompt.
type editor struct {
	mu    sync.Mutex
	asked map[string][]edit
}

// edit is a call of the upstream.
type edit struct {
	size            string
	reference, mask image.Image
}

func (e *editor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var got edit
	var size imagegen.Size
	err := r.ParseMultipartForm(1 << 20)
	if err == nil {
		got.size = r.FormValue("size")
		size, err = imagegen.ParseSize(got.size)
	}
	if err == nil {
		got.reference, err = decodePart(r, "image[]")
	}
	if err == nil && r.MultipartForm.File["mask"] != nil {
		got.mask, err = decodePart(r, "mask")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	e.mu.Lock()
	e.asked[r.FormValue("prompt")] = append(e.asked[r.FormValue("prompt")], got)
	e.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"data": [{"b64_json": %q}]}`, base64.StdEncoding.EncodeToString(picture(size.Width, size.Height)))
}

// decodePart decodes the only file of a name, as its pixels are stored.
func decodePart(r *http.Request, name string) (image.Image, error) {
	if len(r.MultipartForm.File[name]) != 1 {
		return nil, errors.New("there is not one " + name)
	}
	f, err := r.MultipartForm.File[name][0].Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, _, err := image.Decode(f)
	return m, err
}

// check checks that the upstream was asked once, for the ratio and with the files as they are displayed.
func (e *editor) check(t *testing.T, prompt string, masked bool) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.asked[prompt]) != 1 {
		t.Fatalf("%s: the upstream was asked %d times", prompt, len(e.asked[prompt]))
	}
	got := e.asked[prompt][0]
	err := imagegentest.Upright(got.reference)
	if got.size != "768x1024" || got.reference.Bounds().Size() != displayed {
		t.Errorf("%s: the upstream was asked for %s, with a reference of %v", prompt, got.size,
			got.reference.Bounds().Size())
	}
	if masked != (got.mask != nil) {
		t.Errorf("%s: the upstream got a mask: %t", prompt, got.mask != nil)
	} else if masked {
		err = errors.Join(err, imagegentest.UprightMask(got.mask))
		same(t, got.mask.Bounds().Size(), displayed)
	}
	if err != nil {
		t.Errorf("%s: %v", prompt, err)
	}
}
