package account

import (
	"context"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/hostcall"
)

// Caller is who asks, by the sign-in of the program that embeds the service: a session of its own in the place of an
// API key.
type Caller struct {
	// User is the user of the service, which need not exist in the Store. Required.
	User imagegen.UserID

	// AccountType is that by which models and prices are chosen. "": that of the user in the Store.
	AccountType string

	// Name says whose requests at once are counted together, such as an identifier of the session. It must stay the
	// same from request to request, and is not logged. "": those of the user.
	Name string

	// Still returns why the caller is not signed in any more, such as imagegen.ErrInvalidKey; nil if they are. It is
	// called wherever a key is looked at again: after the body, before an earlier answer is repeated, before the
	// charge, and while a call waits or an answer is sent. Its answer counts for a second. It has two seconds; then the
	// request is refused with 503. nil: who has begun a request may end it.
	Still func(ctx context.Context) error
}

type callerKey struct{}

// standing is a caller with the last answer of Still.
type standing struct {
	Caller
	mu      sync.Mutex
	checked time.Time
	err     error
}

// WithCaller returns a context in which engine.Engine.Authenticate, with an empty key, returns the Service of c.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, &standing{Caller: c, checked: time.Now()})
}

// CallerOf returns the caller of a context, whose Still keeps its answer for a second and holds out if the function of
// the program panics or hangs. ok reports whether the context has one.
func CallerOf(ctx context.Context) (c Caller, ok bool) {
	s, ok := ctx.Value(callerKey{}).(*standing)
	if !ok {
		return Caller{}, false
	}
	c = s.Caller
	c.Still = s.still
	return c, true
}

func (s *standing) still(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Caller.Still == nil || time.Since(s.checked) < time.Second {
		return s.err
	}
	_, err := hostcall.Do(ctx, "Caller.Still", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.Caller.Still(ctx)
	})
	if ctx.Err() == nil { // otherwise the error is that of ctx
		s.checked, s.err = time.Now(), err
	}
	return err
}
