package httpapi

import (
	"cmp"
	"io"
	"math"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/share"
)

// What one API key may have the service do at once, and what all may together. Uploads are the engine's
// to bound, see [engine.Session.Stage].
const (
	requestsAtOnce = 256      // of a key, unless the options say otherwise
	heldOfKey      = 16 << 20 // bytes of bodies in memory
	heldOfAll      = 64 << 20
)

// intake is what is under way of each key.
type intake struct {
	most     int // requests of a key
	requests *share.Shares[imagegen.KeyID]
	held     *share.Shares[imagegen.KeyID]
}

func newIntake(o Options) intake {
	most := cmp.Or(o.RequestsAtOnce, requestsAtOnce)
	return intake{most, share.New[imagegen.KeyID](int64(most), math.MaxInt64), share.New[imagegen.KeyID](heldOfKey, heldOfAll)}
}

// admit lets a request of a key in, until leave.
func (i intake) admit(k imagegen.KeyID) (leave func(), err error) {
	if !i.requests.Take(k, 1) {
		return nil, busy("this API key has %d requests under way; wait for one to end", i.most)
	}
	return func() { i.requests.Give(k, 1) }, nil
}

// hold bounds what is read of a body into memory, until release.
func (i intake) hold(k imagegen.KeyID) *holding { return &holding{shares: i.held, key: k} }

// holding is the memory that one body takes.
type holding struct {
	shares *share.Shares[imagegen.KeyID]
	key    imagegen.KeyID
	bytes  int64
}

// growth is how much memory a byte takes that is read into a buffer which grows.
const growth = 2

// readAll reads r to its end. ErrOverloaded: too much of other requests is held.
func (h *holding) readAll(r io.Reader) ([]byte, error) { return io.ReadAll(held{h, r}) }

func (h *holding) release() { h.shares.Give(h.key, h.bytes) }

// held is a reader of what stays in memory.
type held struct {
	*holding
	r io.Reader
}

// Read implements io.Reader.
func (h held) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	if taken := growth * int64(n); h.shares.Take(h.key, taken) {
		h.bytes += taken
		return n, err
	}
	return 0, busy("too much is being sent at once; send less at a time")
}

func busy(format string, args ...any) error {
	e := imagegen.Invalid(format, args...)
	e.Code, e.RetryAfter = imagegen.CodeOverloaded, time.Second
	return e
}
