package engine_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// signIns are those of a host: they last until it ends them.
type signIns struct {
	mu    sync.Mutex
	asked int
	ended error
}

func (s *signIns) still(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return s.ended
}

// end has the host say why nobody is signed in any more.
func (s *signIns) end(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = why
}

// session is that of Alice by the host's sign-in, a minute after the request began.
func (s *signIns) session(t *testing.T, e imagegentest.Running) *engine.Session {
	t.Helper()
	ctx := account.WithCaller(t.Context(), engine.Caller{User: imagegentest.Alice, Still: s.still})
	session, err := e.Authenticate(ctx, "")
	is.New(t).NoErr(err)
	is.New(t).Equal(s.asked, 0) // the host has just said so
	time.Sleep(time.Minute)
	return session
}

var smallFox = imagegen.GenerateRequest{Model: imagegentest.Model, Prompt: "a fox",
	Size: imagegen.Size{Width: 64, Height: 64}}

// Whom the host has signed in is asked for again where a key is: nothing is charged after the sign-in has ended, no
// earlier answer is repeated, and no call waits on.
func TestSignInEnds(t *testing.T) {
	calls := map[string]func(context.Context, *engine.Session) error{
		"a charge": func(ctx context.Context, s *engine.Session) error {
			_, err := s.Generate(ctx, smallFox)
			return err
		},
		"accepted work": func(ctx context.Context, s *engine.Session) error {
			q := smallFox
			q.Async = true
			_, err := s.Generate(ctx, q)
			return err
		},
		"an earlier answer": func(ctx context.Context, s *engine.Session) error {
			q := smallFox
			q.IdempotencyKey = "order-1"
			_, err := s.Generate(ctx, q)
			return err
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				e := imagegentest.Start(t)
				earlier := smallFox
				earlier.IdempotencyKey = "order-1"
				_, err := e.As(imagegentest.Alice).Generate(t.Context(), earlier)
				is.NoErr(err)
				before, err := e.As(imagegentest.Alice).Balance(t.Context())
				is.NoErr(err)

				host := &signIns{}
				s := host.session(t, e)
				host.end(imagegen.ErrInvalidKey)
				is.True(errors.Is(call(t.Context(), s), imagegen.ErrInvalidKey))
				after, err := e.As(imagegentest.Alice).Balance(t.Context())
				is.NoErr(err)
				is.Equal(after.Credits, before.Credits)

				host = &signIns{}
				is.NoErr(call(t.Context(), host.session(t, e)))
				is.Equal(host.asked, 1) // the answer counts for a second
			})
		})
	}
}

// The sign-in can end while a call waits for a slot: right before the charge the host is asked once more. A host that
// fails then is not the caller's fault, and the answer says that nothing was charged.
func TestSignInEndsBeforeTheCharge(t *testing.T) {
	for name, ended := range map[string]error{"signed out": imagegen.ErrInvalidKey,
		"no answer": imagegen.Overloaded(time.Second, nil)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				host := &signIns{}
				e := imagegentest.Start(t, func(c *engine.Config) {
					c.Admit = func(context.Context, engine.Admission) error {
						time.Sleep(2 * time.Second) // as a wait for a slot
						host.end(ended)
						return nil
					}
				})
				_, err := host.session(t, e).Generate(t.Context(), smallFox)
				is.True(errors.Is(err, ended))
				is.Equal(host.asked, 2)
				page, err := e.As(imagegentest.Alice).Generations(t.Context(), imagegen.Query{})
				is.NoErr(err)
				is.Equal(len(page.Generations), 0)
			})
		})
	}
}

func TestSignInEndsWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		e := imagegentest.Start(t)
		host := &signIns{}
		s := host.session(t, e)
		q := smallFox
		q.Prompt, q.Async = "[fake:delay=10m]", true
		result, err := s.Generate(t.Context(), q)
		is.NoErr(err)
		time.AfterFunc(5*time.Second, func() { host.end(imagegen.ErrInvalidKey) })
		began := time.Now()
		_, err = s.Await(t.Context(), result.Generation.ID, imagegen.MaxAwait)
		is.True(errors.Is(err, imagegen.ErrInvalidKey))
		is.True(time.Since(began) <= 7*time.Second)
	})
}

// A disabled user is not let in by the host's sign-in either, and a user who cannot be one is the host's fault.
func TestCallersWhoCannotBe(t *testing.T) {
	is := is.New(t)
	e := imagegentest.Start(t)
	u, err := e.Accounts().CreateUser(t.Context(), "carol", "")
	is.NoErr(err)
	is.NoErr(e.Accounts().DisableUser(t.Context(), u.ID))
	_, err = e.Authenticate(account.WithCaller(t.Context(), engine.Caller{User: u.ID}), "")
	is.True(errors.Is(err, imagegen.ErrInvalidKey))
	_, err = e.Authenticate(account.WithCaller(t.Context(), engine.Caller{}), "")
	is.True(errors.Is(err, imagegen.ErrInternal))
	_, err = e.Authenticate(t.Context(), "")
	is.True(errors.Is(err, imagegen.ErrMissingKey))
}

// The account type that the host names decides prices, and is what the caller sees.
func TestCallersAccountType(t *testing.T) {
	is := is.New(t)
	e := imagegentest.Start(t, func(c *engine.Config) {
		c.Models[0].Price = func(_ context.Context, o engine.Order) (imagegen.Credits, error) {
			if o.AccountType == "PRO" {
				return 1, nil
			}
			return 3, nil
		}
	})
	for accountType, want := range map[string]imagegen.Credits{"PRO": 1, "": 3} {
		s, err := e.Authenticate(account.WithCaller(t.Context(), engine.Caller{User: imagegentest.Alice,
			AccountType: accountType}), "")
		is.NoErr(err)
		result, err := s.Generate(t.Context(), smallFox)
		is.NoErr(err)
		is.Equal(result.Generation.Credits, want)
		balance, err := s.Balance(t.Context())
		is.NoErr(err)
		is.Equal(result.Balance.AccountType, balance.AccountType)
		if accountType != "" {
			is.Equal(balance.AccountType, accountType)
		}
	}
}
