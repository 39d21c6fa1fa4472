package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// swallower stands before a database. While it swallows, connections stay open, and new ones can be made, but no byte
// passes: so does a database that hangs behave.
type swallower struct {
	listener net.Listener
	to       string

	mu        sync.Mutex
	swallows  bool
	swallowAt []byte // swallows from the message with these bytes on; nil: from none
}

// swallowing returns a swallower and the address of the database behind it.
func swallowing(t *testing.T, address string) (*swallower, string) {
	t.Helper()
	is := is.New(t)
	u, err := url.Parse(address)
	is.NoErr(err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	s := &swallower{listener: l, to: u.Host}
	q := u.Query()
	q.Set("connect_timeout", "1") // so that a try that hangs is soon over
	u.RawQuery = q.Encode()
	go s.serve()
	t.Cleanup(func() { l.Close() })
	u.Host = l.Addr().String()
	return s, u.String()
}

func (s *swallower) serve() {
	for {
		from, err := s.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", s.to)
		if err != nil {
			from.Close()
			continue
		}
		go s.pass(from, to)
		go s.pass(to, from)
	}
}

func (s *swallower) pass(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		if s.swallow(b[:n]) {
			continue
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

func (s *swallower) swallow(b []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.swallowAt != nil && bytes.Contains(b, s.swallowAt) {
		s.swallows, s.swallowAt = true, nil
	}
	return s.swallows
}

func (s *swallower) set(swallows bool, at []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.swallows, s.swallowAt = swallows, at
}

// A database that is alive and hangs holds up no caller: reads and writes ask to try again.
func TestHungDatabase(t *testing.T) {
	is := is.New(t)
	proxy, address := swallowing(t, postgrestest.Start(t).Database(t))
	db := open(t, address)
	fund(t, db)
	db.SetPatience(500 * time.Millisecond)
	for name, call := range map[string]func(context.Context) error{
		"balance":    func(ctx context.Context) error { _, err := db.Balance(ctx, "alice"); return err },
		"generation": func(ctx context.Context) error { _, err := db.Generation(ctx, "gen_1"); return err },
		"queued":     func(ctx context.Context) error { _, err := db.Queued(ctx, "alice"); return err },
		"open":       func(ctx context.Context) error { _, err := db.OpenCharges(ctx, "", 1); return err },
		"unsettled":  func(ctx context.Context) error { _, _, err := db.Unsettled(ctx, "", 1); return err },
		"user":       func(ctx context.Context) error { _, err := db.User(ctx, "alice"); return err },
		"snapshot": func(ctx context.Context) error {
			s, err := db.Snapshot(ctx)
			if err == nil {
				s.Close()
			}
			return err
		},
		"charge": func(ctx context.Context) error {
			return db.Charge(ctx, imagegen.Charge{ID: "c", User: "alice", Credits: 5, N: 1})
		},
		"grant": func(ctx context.Context) error {
			_, err := db.Grant(ctx, imagegen.Grant{User: "alice", Credits: 1})
			return err
		},
		"claim": func(ctx context.Context) error {
			_, _, err := db.Claim(ctx, imagegen.ClaimRequest{Most: 1, Lease: time.Minute})
			return err
		},
		"turn": func(ctx context.Context) error { _, err := db.Turn(ctx, "duty", 0); return err },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			eventually(t, "the database answers", func() bool {
				_, err := db.Balance(t.Context(), "alice")
				return err == nil
			})
			proxy.set(true, nil)
			defer proxy.set(false, nil)
			for range 2 { // on a connection that hangs, and with none
				ctx, cancel := context.WithTimeout(t.Context(), soon)
				err := call(ctx)
				is.NoErr(ctx.Err()) // the call ends by itself
				cancel()
				is.True(errors.Is(imagegen.ToUserError(err), imagegen.ErrOverloaded))
			}
		})
	}
	eventually(t, "the database answers", func() bool { _, err := db.Balance(t.Context(), "alice"); return err == nil })
	b, err := db.Balance(t.Context(), "alice")
	is.NoErr(err)
	is.Equal(b.Credits, imagegen.Credits(1000)) // what was refused changed nothing
}

// The outcome of a commit that a hung database does not answer is unknown.
func TestHungCommit(t *testing.T) {
	is := is.New(t)
	proxy, address := swallowing(t, postgrestest.Start(t).Database(t))
	db := open(t, address)
	fund(t, db)
	r, err := db.CreateCharged(t.Context(), record(1), time.Minute)
	is.NoErr(err)
	db.SetPatience(500 * time.Millisecond)
	for n, call := range []func() error{
		func() error {
			return db.Charge(t.Context(), imagegen.Charge{ID: "c", User: "alice", Credits: 5, N: 1})
		},
		func() error {
			_, err := db.GenerationByIdempotencyKey(t.Context(), "alice", r.IdempotencyKey)
			return err
		},
	} {
		eventually(t, "the database answers", func() bool {
			_, err := db.Balance(t.Context(), "alice")
			return err == nil
		})
		proxy.set(false, []byte("commit\x00"))
		err := call()
		if !errors.Is(err, postgres.ErrOutcomeUnknown) {
			t.Error(fmt.Errorf("%d: %w", n, err))
		}
		proxy.set(false, nil)
	}
	eventually(t, "the database answers", func() bool { _, err := db.Balance(t.Context(), "alice"); return err == nil })
}
