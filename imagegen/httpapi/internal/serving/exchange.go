package serving

import (
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/formdata"
)

// Exchange is one request and its answer on the way through the handlers. See Site.Begin.
type Exchange struct {
	http.ResponseWriter
	Request *http.Request
	Ctx     *Identified // of the request

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

	values [8]string // of the header, as far as Set has put them there
	used   int
}

func (x *Exchange) begin(w http.ResponseWriter, r *http.Request) {
	x.ResponseWriter, x.Request, x.Ctx = w, r, &Identified{r.Context(), requestID(r.Header)}
	x.control, x.began = *http.NewResponseController(w), time.Now()
	if r.Header["Expect"] != nil { // its answer would meet the deadline that an earlier one has left
		x.control.SetWriteDeadline(time.Time{})
	}
}

// Unwrap serves http.ResponseController.
func (x *Exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// Set sets a field of the header that most answers have. The name is in its canonical form, and there is
// room for the value already: Header.Set would bring the one into its form and make the other, each time.
func (x *Exchange) Set(name, value string) {
	if x.used == len(x.values) {
		x.Header()[name] = []string{value}
		return
	}
	x.values[x.used] = value
	x.Header()[name] = x.values[x.used : x.used+1 : x.used+1]
	x.used++
}

// Send answers with bytes that are ready.
func (x *Exchange) Send(status int, body []byte) error {
	x.Set("Content-Length", strconv.Itoa(len(body)))
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
