package serving

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/formdata"
	"github.com/imagegend/imagegend/internal/httpguard"
	"github.com/imagegend/imagegend/internal/share"
)

// What one API key or user may have the service do at once, and what all may together. Memory is shared
// between users, who can make themselves any number of keys. Uploads are bounded by the engine, see
// [engine.Session.StageReference].
const (
	requestsAtOnce = 256      // of a key, unless the options say otherwise
	heldOfUser     = 16 << 20 // bytes of bodies in memory
	heldOfAll      = 64 << 20 // the same, of all users together
)

// Limits counts what is under way for each API key and user, in all interfaces that share it. It is safe
// for concurrent use.
type Limits struct {
	most     int // requests of a key
	requests *share.Shares[imagegen.KeyID]
	held     *share.Shares[imagegen.UserID]
}

// NewLimits returns limits for that many requests of one API key at once; 0: 256.
func NewLimits(requests int) *Limits {
	most := cmp.Or(requests, requestsAtOnce)
	return &Limits{most, share.New[imagegen.KeyID](int64(most), math.MaxInt64), share.New[imagegen.UserID](heldOfUser,
		heldOfAll)}
}

// Admit counts a request of a key, or of what stands for one, until leave. ErrOverloaded: it has too many.
func (l *Limits) Admit(k imagegen.KeyID) (leave func(), err error) {
	if !l.requests.Take(k, 1) {
		return nil, busy("this API key or sign-in has %d requests under way; wait for one to end", l.most)
	}
	return func() { l.requests.Give(k, 1) }, nil
}

// Caller is a session of the user to whom an API key belongs.
type Caller interface {
	User() imagegen.UserID
	KeyID() imagegen.KeyID
	Payer() imagegen.UserID // whose share of memory the requests take
}

// Admit returns the session of who asks, see Identify, and counts the request against the limit of the key, or of the
// host's session, until leave. It does not read the body. What takes long asks Exchange.Still again: Body, and answers.
func Admit[S Caller](x *Exchange, s *Site, authenticate func(ctx context.Context, rawKey string) (S, error)) (
	session S, leave func(), err error) {
	if session, err = Identify(x, s, authenticate); err != nil {
		return session, nil, err
	}
	leave, err = s.Limits.Admit(cmp.Or(x.Key, x.signedIn))
	return session, leave, err
}

// Identify returns the session of the caller whose key came with the request or, if none came and the site has a
// sign-in of the host's, of the person whom the host has signed in.
func Identify[S Caller](x *Exchange, s *Site, authenticate func(ctx context.Context, rawKey string) (S, error)) (
	session S, err error) {
	key, err := httpguard.Bearer(x.Request.Header)
	if errors.Is(err, imagegen.ErrMissingKey) && s.Authenticate != nil {
		err = s.signIn(x)
	}
	if err != nil {
		return session, err
	}
	if session, err = authenticate(x.Ctx, key); err != nil {
		return session, err
	}
	x.Key, x.User, x.Payer = session.KeyID(), session.User(), session.Payer()
	x.Still = func() error { _, err := authenticate(x.Ctx, key); return err }
	return session, nil
}

// Hold begins to count what is read of a body into memory. The caller must call Release.
func (l *Limits) Hold(u imagegen.UserID) *Holding { return &Holding{shares: l.held, user: u} }

// Holding is the memory that one body takes. It is not safe for concurrent use.
type Holding struct {
	shares *share.Shares[imagegen.UserID]
	user   imagegen.UserID
	bytes  int64
}

// growth is how many bytes of memory a byte takes that is read into a growing buffer: the old buffer
// and the new one exist while one is copied to the other.
const growth = 2

// ReadAll reads r to its end. ErrOverloaded: with the bodies of other requests, that would take too
// much memory.
func (h *Holding) ReadAll(r io.Reader) ([]byte, error) { return io.ReadAll(held{h, r}) }

// Take counts n more bytes that stay in memory. ErrOverloaded.
func (h *Holding) Take(n int64) error {
	if !h.shares.Take(h.user, growth*n) {
		return busy("too much is being sent at once; send less at a time")
	}
	h.bytes += growth * n
	return nil
}

// Release gives back all that was taken.
func (h *Holding) Release() { h.shares.Give(h.user, h.bytes) }

// held is a reader that counts what it yields as held.
type held struct {
	*Holding
	r io.Reader
}

// Read implements io.Reader.
func (h held) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	if full := h.Take(int64(n)); full != nil {
		return 0, full
	}
	return n, err
}

// busy is an ErrOverloaded with a message and a short Retry-After.
func busy(format string, args ...any) error {
	e := imagegen.Invalid(format, args...)
	e.Code, e.RetryAfter = imagegen.CodeOverloaded, time.Second
	return e
}

// Body returns the body of the request, which must have at most most bytes and must keep coming, see
// formdata.Steady. It is to be called once, after Admit. ErrInvalidRequest: the announced length is too large.
// httpguard.CodeUnsupportedEncoding: the body is compressed. BodyError explains the errors of reading it, also that its
// end came when the key could no longer be used.
func (x *Exchange) Body(most int64) (io.Reader, error) {
	if err := httpguard.Plain(x.Request.Header); err != nil {
		x.Header().Set("Accept-Encoding", "identity") // RFC 9110, section 15.5.16
		return nil, err
	}
	if x.Request.ContentLength > most {
		return nil, tooLarge(most)
	}
	limited := http.MaxBytesReader(x.ResponseWriter, x.Request.Body, most)
	x.incoming = &formdata.Steady{Body: limited, Control: &x.control, Began: x.Began}
	return arriving{x}, nil
}

// arriving is the body of a request that was admitted. One that takes long ends only if the key can still be used: so
// whatever reads it to its end, as all do, neither acts nor answers for a key that was revoked meanwhile.
type arriving struct{ *Exchange }

// Read implements io.Reader.
func (a arriving) Read(p []byte) (int, error) {
	n, err := a.incoming.Read(p)
	if err == io.EOF && time.Since(a.Began) >= lookAgain {
		if ended := a.Still(); ended != nil {
			err = Coded(ended)
		}
	}
	return n, err
}

// lookAgain is how long a look at the key counts for a body, as it does for a call that waits. A body that comes at
// once costs no second look.
const lookAgain = time.Second

func tooLarge(most int64) error {
	return imagegen.Invalid("the request body is larger than %d bytes", most)
}

// BodyError returns what to tell the caller about a body that could not be read. An *imagegen.Error
// is returned as it is.
func BodyError(err error) error {
	if _, coded := errors.AsType[*imagegen.Error](err); coded {
		return err
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(e.Limit)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return imagegen.Invalid("the request body came too slowly: it stalled for %v, fell below %d bytes a second or took more than %v",
			formdata.Patience, formdata.MinRate, formdata.MaxTime)
	}
	return &imagegen.Error{Code: imagegen.CodeInvalidRequest, Message: "the request body is malformed or ended early",
		Err: err}
}
