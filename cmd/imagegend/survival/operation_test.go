package survival_test

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"strconv"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// operation is one request for images. Its prompt is its own, so that what became of it can be
// found in the list.
type operation struct {
	prompt     string
	model      string // "": fake-1
	n          int
	async      bool
	references int
	key        string // the idempotency key
	wrong      bool   // it is to be refused
	underWay   bool   // it may be: it was sent before to a node that did not answer, and lives
}

// kinds of operations, each as often as it stands here.
var kinds = []func(*rand.Rand, *operation){
	plain, plain, plain, plain,
	queued, queued, queued, queued,
	partial, partial, partial, directed("[fake:images=1]"),
	directed("[fake:images=1] [fake:fail]"), directed("[fake:images=6]"),
	directed("[fake:fail]"), directed("[fake:refuse]"), directed("[fake:panic]"), directed("[fake:corrupt]"),
	directed("[fake:transient=1]"), directed("[fake:delay=50ms]"), directed("[fake:delay=300ms]"),
	func(r *rand.Rand, o *operation) { o.async, o.references = r.IntN(2) == 0, 1+r.IntN(3) },
	func(r *rand.Rand, o *operation) { o.wrong, o.n = true, 5 },
}

func plain(*rand.Rand, *operation)      {}
func queued(_ *rand.Rand, o *operation) { o.async = true }

// partial is waited for, and lacks images at the end.
func partial(r *rand.Rand, o *operation) {
	o.prompt += " [fake:images=1]"
	o.n = 2 + r.IntN(3)
}

// directed sends directives to the fake provider, synchronously or not.
func directed(directives string) func(*rand.Rand, *operation) {
	return func(r *rand.Rand, o *operation) {
		o.prompt += " " + directives
		o.n = 2 + r.IntN(3)
		o.async = r.IntN(2) == 0
	}
}

func newOperation(r *rand.Rand, name string) operation {
	o := operation{prompt: name, n: 1 + r.IntN(2)}
	kinds[r.IntN(len(kinds))](r, &o)
	if r.IntN(3) == 0 {
		o.key = fmt.Sprintf("key-%x", name)
	}
	return o
}

// request is the operation as a request; called again it is the same to the service, not byte for
// byte.
func (o operation) request(key string) daemontest.Request {
	r := daemontest.Generate(key, map[string]any{"model": o.modelName(), "prompt": o.prompt, "n": o.n, "async": o.async,
		"size": "48x32"})
	if o.references > 0 {
		r = o.form(r)
	}
	if o.key != "" {
		r = r.With("Idempotency-Key", o.key)
	}
	return r
}

func (o operation) modelName() string { return cmp.Or(o.model, "fake-1") }

func (o operation) form(r daemontest.Request) daemontest.Request {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	w.WriteField("model", o.modelName())
	w.WriteField("prompt", o.prompt)
	w.WriteField("n", strconv.Itoa(o.n))
	w.WriteField("async", strconv.FormatBool(o.async))
	w.WriteField("size", "48x32")
	for i := range o.references {
		part, _ := w.CreateFormFile("reference_image", fmt.Sprintf("%d.png", i)) // a buffer takes all
		part.Write(reference)
	}
	w.Close()
	r.Body = &body
	return r.With("Content-Type", w.FormDataContentType())
}

// reference is a small image to send.
var reference = func() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 48, 32))); err != nil {
		panic(err)
	}
	return b.Bytes()
}()

// recorded reports whether an answer of this status is kept under the idempotency key.
func recorded(status int) bool {
	return status == http.StatusOK || status == http.StatusAccepted || status == http.StatusInternalServerError
}
