package serving

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/formdata"
)

// Exchange is one request and its answer on the way through the handlers. See Site.Begin.
type Exchange struct {
	http.ResponseWriter
	Request *http.Request
	Ctx     context.Context // the request's, with its identifier

	Route      string                // its pattern, for the log; "" when none fits
	Quiet      bool                  // it is of no interest but to who debugs
	Base       string                // of the addresses in the answer; see Site.FindBase
	User       imagegen.UserID       // whose key came, if one did
	Key        imagegen.KeyID        // which
	Generation imagegen.GenerationID // that it is about, if any
	Status     int                   // of the answer; 0: not begun
	Err        error                 // that was answered

	control  http.ResponseController
	incoming *formdata.Steady // the body, once it is asked for
	began    time.Time
	extended time.Time // when the write deadline was set last
	bytes    int64     // of the answer's body
	cut      error     // with which writing the answer failed
}

// begin prepares an exchange for a request.
func (x *Exchange) begin(w http.ResponseWriter, r *http.Request) {
	x.ResponseWriter, x.Request, x.Ctx = w, r, withRequestID(r)
	x.control, x.began = *http.NewResponseController(w), time.Now()
	if r.Header["Expect"] != nil { // its answer would meet the deadline that an earlier one has left
		x.control.SetWriteDeadline(time.Time{})
	}
}

// Unwrap serves http.ResponseController.
func (x *Exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// Send answers with bytes that are ready.
func (x *Exchange) Send(status int, body []byte) error {
	x.Header().Set("Content-Length", strconv.Itoa(len(body)))
	x.WriteHeader(status)
	x.Write(body) // a peer that has gone needs no answer
	return nil
}

// lingering is how long an answer that came before the end of the body waits for the rest, which
// net/http reads to leave the connection fit for use.
const lingering = 2 * time.Second

// WriteHeader implements http.ResponseWriter.
func (x *Exchange) WriteHeader(status int) {
	x.Status = status
	x.extend(0)
	if (x.incoming == nil || !x.incoming.Ended) && x.Request.Body != http.NoBody {
		x.control.SetReadDeadline(time.Now().Add(lingering))
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter, after WriteHeader.
func (x *Exchange) Write(p []byte) (int, error) {
	x.extend(int64(len(p)))
	n, err := x.ResponseWriter.Write(p)
	x.bytes += int64(n)
	x.cut = err
	return n, err
}

// Flush sends what was written so far.
func (x *Exchange) Flush() error {
	x.extend(0)
	err := x.control.Flush()
	if x.cut == nil {
		x.cut = err
	}
	return err
}

// Sent reports whether the whole answer has been written. A peer that closes the connection after that has it.
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
		n, err = io.CopyN(x.ResponseWriter, whole.R, next)
		whole.N -= n
		x.bytes += n
		total += n
	}
	if err == io.EOF {
		err = nil
	}
	return total, err
}

// extend gives the peer time to take n more bytes.
func (x *Exchange) extend(n int64) {
	now := time.Now()
	if n > 0 && n < formdata.MinRate && now.Sub(x.extended) < time.Second {
		return
	}
	x.extended = now
	x.control.SetWriteDeadline(now.Add(formdata.Patience + formdata.TransferTime(n))) // fails where a test or a wrapper has no deadlines
}

// Encoder is a buffer with an encoder that writes to it, for use again and again.
type Encoder struct {
	bytes.Buffer
	JSON *json.Encoder
}

var encoders = sync.Pool{New: func() any {
	e := &Encoder{}
	e.JSON = json.NewEncoder(&e.Buffer)
	e.JSON.SetEscapeHTML(false)
	return e
}}

// largestKept bounds what the pool holds on to.
const largestKept = 64 << 10

// NewEncoder returns an empty one. Free it.
func NewEncoder() *Encoder { return encoders.Get().(*Encoder) }

// Free keeps the buffer for another use.
func (e *Encoder) Free() {
	if e.Cap() <= largestKept {
		e.Reset()
		encoders.Put(e)
	}
}

// JSON answers with a body. Unless the header says otherwise it is not to be stored.
func (x *Exchange) JSON(status int, body any) error {
	e := NewEncoder()
	defer e.Free()
	if err := e.JSON.Encode(body); err != nil {
		return err
	}
	x.Header().Set("Content-Type", "application/json")
	x.Header().Set("Cache-Control", "no-store")
	return x.Send(status, e.Bytes())
}
