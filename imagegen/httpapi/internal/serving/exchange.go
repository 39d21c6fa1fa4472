package serving

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/formdata"
	"github.com/imagegend/imagegend/internal/accesslog"
)

// Exchange is one request and its answer on the way through the handlers. See Site.Begin. It is not
// safe for concurrent use. Handlers fill in the exported fields as far as they know them, for the
// log and for watchers.
type Exchange struct {
	accesslog.Writer
	Request *http.Request
	Ctx     context.Context // the request's, with its identifier

	Route      string                // its pattern, for the log; "" when none fits
	Quiet      bool                  // it is logged for debugging only
	Base       string                // of the addresses in the answer; see Site.FindBase
	User       imagegen.UserID       // whose key came, or whom the host signed in
	Payer      imagegen.UserID       // whose share of memory the request takes
	Key        imagegen.KeyID        // that key
	Still      func() error          // why that key can no longer be used; nil if it can. Set by Admit
	Generation imagegen.GenerationID // that it is about, if any
	Err        error                 // the error that was answered, or that cut the answer off

	signedIn imagegen.KeyID // stands for a key where the host signed somebody in; see Site.Authenticate
	control  http.ResponseController
	incoming *formdata.Steady // the body, once it is asked for
	extended time.Time        // when the write deadline was set last
	cut      error            // with which writing the answer failed
}

// prepare prepares an exchange for a request.
func (x *Exchange) prepare(w http.ResponseWriter, r *http.Request) {
	x.ResponseWriter, x.Request, x.Ctx = w, r, withRequestID(r)
	x.control, x.Began = *http.NewResponseController(w), time.Now()
	if r.Header["Expect"] != nil { // the 100 Continue would meet the deadline that the previous answer has left
		x.control.SetWriteDeadline(time.Time{})
	}
}

// linger reads what the peer still sends of a body that was answered early, for a while, and drops it. Many clients
// read no answer before they have sent everything (psf/requests, issue 2422); if the connection ended meanwhile, they
// would not learn why. A peer that waits for 100 Continue sends nothing more.
func (x *Exchange) linger() {
	if x.bodyEnded() || x.Request.ProtoMajor != 1 || x.incoming == nil && x.Request.Header["Expect"] != nil {
		return
	}
	if x.Sent() && x.control.SetReadDeadline(time.Now().Add(patience)) == nil {
		io.Copy(io.Discard, x.Request.Body) // an error is the end, too
	}
}

// bodyEnded reports whether nothing more comes of the body, or nothing that anybody waits for.
func (x *Exchange) bodyEnded() bool {
	return x.Request.Body == http.NoBody || x.incoming != nil && x.incoming.Ended
}

// Send answers with a body that is in memory, and its length. It always returns nil: a peer that has
// gone shows in Sent.
func (x *Exchange) Send(status int, body []byte) error {
	x.Header().Set("Content-Length", strconv.Itoa(len(body)))
	x.WriteHeader(status)
	x.Write(body) // a peer that has gone needs no answer
	return nil
}

// lingering is how long an answer that comes before the end of the body waits for the rest of it.
// net/http reads that rest, so that the connection can serve another request.
const lingering = 2 * time.Second

// patience is how long the rest of a body is read behind its answer.
const patience = 10 * time.Second

// WriteHeader implements http.ResponseWriter, with a new deadline for the peer.
func (x *Exchange) WriteHeader(status int) {
	if strings.HasPrefix(x.Header().Get("Content-Type"), "text/event-stream") {
		x.Header().Set("X-Accel-Buffering", "no") // nginx would hold the events back
	}
	x.extend(0)
	if !x.bodyEnded() {
		x.control.SetReadDeadline(time.Now().Add(lingering))
	}
	x.Writer.WriteHeader(status)
}

// Write implements http.ResponseWriter, after WriteHeader.
func (x *Exchange) Write(p []byte) (int, error) {
	x.extend(int64(len(p)))
	n, err := x.Writer.Write(p)
	x.cut = err
	return n, err
}

// Flush sends what was written so far.
func (x *Exchange) Flush() error {
	x.extend(0)
	err := x.control.Flush()
	x.cut = cmp.Or(x.cut, err)
	return err
}

// Sent reports whether the whole answer has been handed to the connection. A peer that closes the
// connection after that counts as having received it.
func (x *Exchange) Sent() bool {
	return x.Status != 0 && x.cut == nil && x.control.Flush() == nil
}

// segment is how much of a file is sent under one deadline.
const segment = 1 << 20

// ReadFrom implements io.ReaderFrom, so that the system can copy a file to the connection by itself.
func (x *Exchange) ReadFrom(r io.Reader) (total int64, err error) {
	whole, ok := r.(*io.LimitedReader) // as http.ServeContent sends
	if !ok {
		whole = &io.LimitedReader{R: r, N: math.MaxInt64}
	}
	for err == nil && whole.N > 0 {
		next := min(segment, whole.N)
		x.extend(next)
		var n int64
		n, err = io.CopyN(&x.Writer, whole.R, next)
		whole.N -= n
		total += n
	}
	if err == io.EOF {
		err = nil
	}
	return total, err
}

// extend gives the peer time to take n more bytes, at the least rate that is asked of it. For small
// writes it sets the deadline at most once a second.
func (x *Exchange) extend(n int64) {
	now := time.Now()
	if n > 0 && n < formdata.MinRate && now.Sub(x.extended) < time.Second {
		return
	}
	x.extended = now
	// an error: the writer of a test or a wrapper has no deadlines
	x.control.SetWriteDeadline(now.Add(formdata.Patience + formdata.TransferTime(n)))
}

// Encoder is a buffer with a JSON encoder that writes to it.
type Encoder struct {
	bytes.Buffer
	JSON *json.Encoder
}

// NewEncoder returns an empty Encoder.
func NewEncoder() *Encoder {
	e := &Encoder{}
	e.JSON = json.NewEncoder(&e.Buffer)
	e.JSON.SetEscapeHTML(false)
	return e
}

// JSON answers with a body, which nobody may store. An error means that the body does not encode;
// nothing was written then.
func (x *Exchange) JSON(status int, body any) error {
	e := NewEncoder()
	if err := e.JSON.Encode(body); err != nil {
		return err
	}
	x.Header().Set("Content-Type", "application/json")
	x.Header().Set("Cache-Control", "no-store")
	return x.Send(status, e.Bytes())
}
