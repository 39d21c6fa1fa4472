package httpapi

import (
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/internal/formdata"
)

// exchange is one request and its answer on the way through the handlers.
type exchange struct {
	http.ResponseWriter
	request *http.Request
	ctx     *identified // of the request
	control http.ResponseController

	route   string          // its pattern; "" when none fits
	id      string          // the :id of the route
	session *engine.Session // of routes that need a key
	base    string          // of the addresses in the answer; see api.findBase

	incoming   *formdata.Steady // the body, once it is asked for
	began      time.Time
	extended   time.Time             // when the write deadline was set last
	status     int                   // of the answer; 0: not begun
	generation imagegen.GenerationID // that it is about, if any
	bytes      int64                 // of its body
	err        error                 // that was answered
	cut        error                 // with which writing the answer failed

	values [8]string // of the header, as far as set has put them there
	used   int
}

func newExchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{ResponseWriter: w, request: r, ctx: &identified{r.Context(), requestID(r.Header)},
		control: *http.NewResponseController(w), began: time.Now()}
	if r.Header["Expect"] != nil { // its answer would meet the deadline that an earlier one has left
		x.control.SetWriteDeadline(time.Time{})
	}
	return x
}

// answer calls a handler and writes the error that it may return.
func (x *exchange) answer(h handle) {
	if err := h(x); err != nil {
		x.fail(err)
	}
}

// Unwrap serves http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// set sets a field of the header that most answers have. The name is in its canonical form, and there is
// room for the value already: Header.Set would bring the one into its form and make the other, each time.
func (x *exchange) set(name, value string) {
	if x.used == len(x.values) {
		x.Header()[name] = []string{value}
		return
	}
	x.values[x.used] = value
	x.Header()[name] = x.values[x.used : x.used+1 : x.used+1]
	x.used++
}

// send answers with bytes that are ready.
func (x *exchange) send(status int, body []byte) error {
	x.set("Content-Length", strconv.Itoa(len(body)))
	x.WriteHeader(status)
	x.Write(body) // a peer that has gone needs no answer
	return nil
}

// lingering is how long an answer that came before the end of the body waits for the rest, which
// net/http reads to leave the connection fit for use.
const lingering = 2 * time.Second

// WriteHeader implements http.ResponseWriter.
func (x *exchange) WriteHeader(status int) {
	x.status = status
	x.extend(0)
	if (x.incoming == nil || !x.incoming.Ended) && x.request.Body != http.NoBody {
		x.control.SetReadDeadline(time.Now().Add(lingering))
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter, after WriteHeader.
func (x *exchange) Write(p []byte) (int, error) {
	x.extend(int64(len(p)))
	n, err := x.ResponseWriter.Write(p)
	x.bytes += int64(n)
	x.cut = err
	return n, err
}

// sent reports whether the whole answer has been written. A peer that closes the connection after that has it.
func (x *exchange) sent() bool {
	return x.status != 0 && x.cut == nil && x.control.Flush() == nil
}

// segment is how much of a file is sent under one deadline.
const segment = 1 << 20

// ReadFrom implements io.ReaderFrom, so that the system can copy a file to the connection by itself.
func (x *exchange) ReadFrom(r io.Reader) (total int64, err error) {
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
func (x *exchange) extend(n int64) {
	now := time.Now()
	if n > 0 && n < formdata.MinRate && now.Sub(x.extended) < time.Second {
		return
	}
	x.extended = now
	x.control.SetWriteDeadline(now.Add(formdata.Patience + formdata.TransferTime(n))) // fails where a test or a wrapper has no deadlines
}

// level is how loud the request is in the log.
func (x *exchange) level() slog.Level {
	switch {
	case x.status >= 500 && x.status != http.StatusServiceUnavailable:
		return slog.LevelError
	case x.route == pathHealthy || x.route == pathReady:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
