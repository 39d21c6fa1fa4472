package tables

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

const signInVersion = 1

// CreateSignIn implements [imagegen.LoginStore]. imagegen.ErrInvalidRequest: the user's identifier is not valid.
func (t *Tables) CreateSignIn(ctx context.Context, s imagegen.SignIn) error {
	if err := s.User.Check(); err != nil {
		return err
	}
	return t.act(ctx, imagegen.ActSignIn, func(tx kv.Tx) (trail.Change, error) {
		known := tx.Get(signIns, s.Hash[:]) != nil
		tx.Put(signIns, s.Hash[:], encodeSignIn(s))
		tx.Put(userSignIns, userSignInKey(s), present)
		if known {
			return trail.Change{}, nil
		}
		return trail.Change{Target: string(s.User), User: s.User, After: trail.Fields("agent", s.Agent)}, nil
	})
}

// SignIn implements [imagegen.LoginStore].
func (t *Tables) SignIn(ctx context.Context, hash [32]byte) (imagegen.SignIn, error) {
	return view(ctx, t.db, func(tx kv.Tx) (imagegen.SignIn, error) { return loadSignIn(tx, hash[:]) })
}

// SignIns implements [imagegen.LoginStore].
func (t *Tables) SignIns(ctx context.Context, u imagegen.UserID) ([]imagegen.SignIn, error) {
	all, err := view(ctx, t.db, func(tx kv.Tx) ([]imagegen.SignIn, error) { return signInsOf(tx, u), nil })
	slices.SortStableFunc(all, func(a, b imagegen.SignIn) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all, err
}

// TouchSignIn implements [imagegen.LoginStore].
func (t *Tables) TouchSignIn(ctx context.Context, hash [32]byte, at time.Time) error {
	return t.db.Update(ctx, func(tx kv.Tx) error {
		s, err := loadSignIn(tx, hash[:])
		if err != nil || !at.After(s.SeenAt) {
			return nil
		}
		s.SeenAt = at
		tx.Put(signIns, hash[:], encodeSignIn(s))
		return nil
	})
}

// EndSignIns implements [imagegen.LoginStore].
func (t *Tables) EndSignIns(ctx context.Context, u imagegen.UserID, hashes ...[32]byte) error {
	return t.act(ctx, imagegen.ActSignOut, func(tx kv.Tx) (trail.Change, error) {
		end := slices.DeleteFunc(signInsOf(tx, u), func(s imagegen.SignIn) bool {
			return len(hashes) > 0 && !slices.Contains(hashes, s.Hash)
		})
		if len(end) == 0 {
			return trail.Change{}, nil
		}
		endSignIns(tx, end...)
		return trail.Change{Target: string(u), User: u, Before: trail.Fields("browsers", len(end))}, nil
	})
}

// mostEnded is the most sign-ins that one write ends.
const mostEnded = 1000

// EndSignInsBefore implements [imagegen.LoginStore].
func (t *Tables) EndSignInsBefore(ctx context.Context, seen, created time.Time) error {
	for {
		n := 0
		err := t.db.Update(ctx, func(tx kv.Tx) error {
			var over []imagegen.SignIn
			tx.Ascend(signIns, nil, func(hash, _ []byte) bool {
				s, err := loadSignIn(tx, hash)
				if err == nil && (s.SeenAt.Before(seen) || s.CreatedAt.Before(created)) {
					over = append(over, s)
				}
				return len(over) < mostEnded
			})
			n = len(over)
			endSignIns(tx, over...)
			return nil
		})
		if err != nil || n < mostEnded {
			return err
		}
	}
}

// signInsOf lists a user's sign-ins. One that cannot be read is no sign-in.
func signInsOf(tx kv.Tx, u imagegen.UserID) (all []imagegen.SignIn) {
	first := kv.Key(string(u))
	tx.Ascend(userSignIns, first, func(key, _ []byte) bool {
		hash, mine := bytes.CutPrefix(key, first)
		if !mine {
			return false
		}
		if s, err := loadSignIn(tx, hash); err == nil {
			all = append(all, s)
		}
		return true
	})
	return all
}

func endSignIns(tx kv.Tx, all ...imagegen.SignIn) {
	for _, s := range all {
		tx.Delete(signIns, s.Hash[:])
		tx.Delete(userSignIns, userSignInKey(s))
	}
}

func userSignInKey(s imagegen.SignIn) []byte { return kv.Key(string(s.User), s.Hash[:]) }

func encodeSignIn(s imagegen.SignIn) []byte {
	w := form(signInVersion)
	w.String(string(s.User))
	w.Time(s.CreatedAt)
	w.Time(s.SeenAt)
	w.String(s.Agent)
	return w
}

// loadSignIn reads a sign-in. imagegen.ErrNotFound.
func loadSignIn(tx kv.Tx, hash []byte) (imagegen.SignIn, error) {
	b := tx.Get(signIns, hash)
	if b == nil {
		return imagegen.SignIn{}, imagegen.ErrNotFound
	}
	in := versioned(b, signInVersion)
	s := imagegen.SignIn{User: imagegen.UserID(in.String()), CreatedAt: in.Time(), SeenAt: in.Time(), Agent: in.String()}
	if err := in.Err(); err != nil {
		return imagegen.SignIn{}, fmt.Errorf("tables: sign-in %x: %w", hash, err)
	}
	copy(s.Hash[:], hash)
	return s, nil
}
