package ledger_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

// spender charges a user on behalf of a key with limits.
type spender struct {
	*fixture
	key imagegen.Key
	now time.Time
}

func (s *spender) try(id string, c imagegen.Credits) error {
	at := s.Read()
	return s.home.Update(context.Background(), func(tx ledger.Tx) error {
		return s.At(tx, at).Charge(imagegen.Charge{ID: imagegen.ChargeID(id), User: "alice", Credits: c, Model: "m",
			Key: s.key.ID}, ledger.Asker{Key: s.key})
	})
}

func (s *spender) over(id string, c imagegen.Credits, limit string) {
	s.Helper()
	err := s.try(id, c)
	s.is.True(errors.Is(err, imagegen.ErrInsufficientCredits) && imagegen.Definite(err))
	s.is.True(strings.Contains(err.Error(), limit)) // names the limit
}

// A day and a month, in UTC, begin with nothing used; what comes back counts on the day of its charge.
func TestLimitsOfDaysAndMonths(t *testing.T) {
	for name, home := range stores {
		t.Run(name, func(t *testing.T) {
			s := &spender{fixture: openAt(t, home()), now: time.Date(2026, 1, 30, 23, 0, 0, 0, time.UTC)}
			s.key = imagegen.Key{ID: "key_1", User: "alice", Name: "ci", Limits: imagegen.KeyLimits{Credits: 30,
				Daily: 5, Monthly: 8}}
			s.reopen(func() time.Time { return s.now })
			s.grant(imagegen.Grant{User: "alice", Credits: 1000})

			s.is.NoErr(s.try("a", 4))
			s.over("b", 2, "5 credits a day (UTC); it has used 4, and this request costs 2")
			s.pass(time.Hour) // 31 January
			s.is.NoErr(s.try("c", 4))
			s.over("d", 1, "8 credits a month (UTC)")
			s.settle("a", 1) // three came back, of yesterday
			s.over("d", 2, "5 credits a day")
			s.is.NoErr(s.try("d", 1)) // which makes nothing of today free but what the month had forbidden
			s.pass(24 * time.Hour)    // 1 February
			s.is.NoErr(s.try("e", 5))
			s.settle("c", 0) // of the month before
			s.over("f", 1, "5 credits a day")
			s.pass(24 * time.Hour)
			s.over("f", 4, "8 credits a month")
			s.is.NoErr(s.try("f", 3))
			use, err := s.KeyUse(t.Context(), "alice", "key_1")
			s.is.NoErr(err)
			s.is.Equal(use, imagegen.KeyUse{Credits: 10, Daily: 3, Monthly: 8, Concurrent: 3})
			s.key.Limits = imagegen.KeyLimits{Credits: 11}
			s.over("g", 2, "limited to 11 credits in all")
			s.is.NoErr(s.try("g", 1))
			s.is.NoErr(s.try("g", 1)) // repeated, it is not held against them
			s.sound()
		})
	}
}

// pass lets time go on, and is seen to do so.
func (s *spender) pass(d time.Duration) {
	s.Helper()
	for range d / time.Hour {
		s.now = s.now.Add(time.Hour)
		s.credits("alice")
	}
}

func TestKeyExceeds(t *testing.T) {
	is := is.New(t)
	k := imagegen.Key{ID: "key_1", Limits: imagegen.KeyLimits{Concurrent: 2, Credits: imagegen.MaxCredits}}
	err := k.CheckLimits(imagegen.KeyUse{Concurrent: 2, Credits: imagegen.MaxCredits}, 1) // requests at once come first
	limited, ok := errors.AsType[*imagegen.Error](err)
	is.True(ok && limited.Code == imagegen.CodeRateLimited && limited.RetryAfter > 0)
	is.True(strings.Contains(limited.Message, "the API key key_1 may have 2 requests at once"))
	is.NoErr(k.CheckLimits(imagegen.KeyUse{Concurrent: 1, Credits: imagegen.MaxCredits - 1}, 1))
	is.True(errors.Is(k.CheckLimits(imagegen.KeyUse{Credits: imagegen.MaxCredits - 1}, 2),
		imagegen.ErrInsufficientCredits))
	is.True(errors.Is(k.CheckLimits(imagegen.KeyUse{Credits: 9}, imagegen.MaxCredits), imagegen.ErrInsufficientCredits))
}
