package engine

import (
	"context"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// Caller is who asks, by the sign-in of the program that embeds the service.
type Caller = account.Caller

// asCaller returns the session of somebody whom the host has signed in.
func (e *Engine) asCaller(ctx context.Context, c Caller) (*Session, error) {
	if !c.User.Valid() {
		return nil, imagegen.Internal(fmt.Errorf("the sign-in returned a Caller of the user %.40q, which cannot be one", c.User))
	}
	s := &Session{engine: e, user: c.User, host: &c}
	if err := s.mayStillWait(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// seen returns a balance as the caller of the session sees it.
func (s *Session) seen(b *imagegen.Balance) *imagegen.Balance {
	if b == nil || s.host == nil || s.host.AccountType == "" {
		return b
	}
	as := *b
	as.AccountType = s.host.AccountType
	return &as
}

// chargeable is usable for the moment before the charge. The commit looks at a key itself; it cannot wait for the host.
// An error is definite: nothing was charged.
func (s *Session) chargeable(ctx context.Context) error {
	if s.host == nil {
		return nil
	}
	if err := s.usable(ctx); err != nil {
		return fmt.Errorf("%w: %w", imagegen.ErrNotApplied, err)
	}
	return nil
}
