package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/backups"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/data"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// Local is the Service on an opened database. In a server, the socket and the operators' programs call it; a command
// without a server calls it itself. The engine need not be started: nothing that Local does waits for one of its
// loops. All fields are set before the first call and do not change.
type Local struct {
	Engine *engine.Engine
	DB     data.Store

	Console   string // address of the console, with a slash at the end; "": not known here
	NoConsole bool   // the console is turned off

	Backing *backups.Schedule // nil: no scheduled backups are made
}

var _ Service = (*Local)(nil)

// CreateUser implements Service. The user and the grant are two transactions. If the second fails, the error says so,
// and the user exists without the credits.
func (l *Local) CreateUser(ctx context.Context, n NewUser) (User, error) {
	if n.Credits != 0 && !n.Credits.Valid() {
		return User{}, errAmount(n.Credits)
	}
	u, err := l.Engine.Accounts().CreateUser(ctx, n.Name, n.AccountType)
	switch {
	case errors.Is(err, imagegen.ErrExists):
		return User{}, refusal("a user %q exists already; nothing was changed", n.Name)
	case err != nil:
		return User{}, words(err)
	}
	if n.Credits != 0 {
		if _, err := l.DB.Grant(ctx, imagegen.Grant{User: u.ID, Credits: n.Credits, Priority: imagegen.DefaultPriority}); err != nil {
			return User{}, fmt.Errorf("the user %q was created, but the credits were not granted: %w; use imagegend credit grant", n.Name, words(err))
		}
	}
	return l.view(ctx, u)
}

// Users implements Service.
func (l *Local) Users(ctx context.Context) ([]User, error) {
	all, err := l.Engine.Accounts().Users(ctx)
	if err != nil {
		return nil, words(err)
	}
	users := make([]User, len(all))
	for i, u := range all {
		if users[i], err = l.view(ctx, u); err != nil {
			return nil, err
		}
	}
	return users, nil
}

// view adds balance and role to a user. Each is a read of its own, so they need not be of the same moment.
func (l *Local) view(ctx context.Context, u imagegen.User) (User, error) {
	b, err := l.DB.Balance(ctx, u.ID)
	if err != nil {
		return User{}, words(err)
	}
	role, err := l.role(ctx, u.ID)
	return User{ID: u.ID, Name: u.Name, AccountType: u.AccountType, Role: role, Credits: b.Credits,
		CreatedAt: Time{u.CreatedAt}, DisabledAt: Time{u.DisabledAt}, SuspendedAt: Time{u.SuspendedAt}}, err
}

// SetAccountType implements Service.
func (l *Local) SetAccountType(ctx context.Context, t AccountType) (User, error) {
	return l.change(ctx, t.User, func(ctx context.Context, id imagegen.UserID) error {
		return l.Engine.Accounts().SetAccountType(ctx, id, t.Type)
	})
}

// DisableUser implements Service.
func (l *Local) DisableUser(ctx context.Context, name string) (User, error) {
	return l.change(ctx, name, l.Engine.Accounts().DisableUser)
}

// RemovePasskeys implements Service.
func (l *Local) RemovePasskeys(ctx context.Context, name string) (User, error) {
	return l.change(ctx, name, func(ctx context.Context, id imagegen.UserID) error {
		_, err := l.DB.RemovePasskeys(ctx, id)
		return err
	})
}

// SuspendUser implements Service.
func (l *Local) SuspendUser(ctx context.Context, name string) (User, error) {
	return l.change(ctx, name, l.Engine.Accounts().SuspendUser)
}

// ResumeUser implements Service.
func (l *Local) ResumeUser(ctx context.Context, name string) (User, error) {
	return l.change(ctx, name, l.Engine.Accounts().ResumeUser)
}

// change looks a user up by name, applies f to the identifier, and returns the user as it is afterwards.
func (l *Local) change(ctx context.Context, name string, f func(context.Context, imagegen.UserID) error) (User, error) {
	u, err := l.user(ctx, name)
	if err != nil {
		return User{}, err
	}
	if err := f(ctx, u.ID); err != nil {
		return User{}, words(err)
	}
	if u, err = l.user(ctx, name); err != nil {
		return User{}, err
	}
	return l.view(ctx, u)
}

// user looks a user up by name. The error of a missing user says how to list them, and is an ErrNotFound.
func (l *Local) user(ctx context.Context, name string) (imagegen.User, error) {
	u, err := l.Engine.Accounts().UserByName(ctx, name)
	if errors.Is(err, imagegen.ErrNotFound) {
		return u, &worded{fmt.Sprintf("there is no user %q; imagegend user list shows them all", name), err}
	}
	return u, words(err)
}

// CreateKey implements Service.
func (l *Local) CreateKey(ctx context.Context, n NewKey) (RawKey, error) {
	u, err := l.user(ctx, n.User)
	if err != nil {
		return RawKey{}, err
	}
	if !u.DisabledAt.IsZero() {
		return RawKey{}, refusal("the user %q is disabled; a key for this user would not work", n.User)
	}
	raw, k, err := l.Engine.Accounts().MintLimitedKey(ctx, u.ID, n.Name, n.Expires.Time, imagegen.KeyLimits(n.Limits))
	return RawKey{Key: viewKey(k), Raw: raw.Reveal()}, words(err)
}

// Keys implements Service.
func (l *Local) Keys(ctx context.Context, user string) ([]Key, error) {
	u, err := l.user(ctx, user)
	if err != nil {
		return nil, err
	}
	keys, err := l.Engine.Accounts().Keys(ctx, u.ID)
	return each(keys, viewKey), words(err)
}

// rawPrefix begins every raw key. An argument that begins with it is a secret, and must appear in no error or log.
const rawPrefix = "img_"

// RevokeKey implements Service.
func (l *Local) RevokeKey(ctx context.Context, id string) (Key, error) {
	return changeKey(id, func(id imagegen.KeyID) (imagegen.Key, error) { return l.Engine.Accounts().RevokeKey(ctx, id) })
}

// LimitKey implements Service.
func (l *Local) LimitKey(ctx context.Context, k KeyLimit) (Key, error) {
	return changeKey(k.ID, func(id imagegen.KeyID) (imagegen.Key, error) {
		return l.Engine.Accounts().LimitKey(ctx, id, imagegen.KeyLimits(k.Limits))
	})
}

// changeKey applies a change to an API key. A raw key in place of its identifier is a likely mistake and is refused
// without repeating it.
func changeKey(id string, change func(imagegen.KeyID) (imagegen.Key, error)) (Key, error) {
	if strings.HasPrefix(id, rawPrefix) {
		return Key{}, refusal("this is a key itself, not its KEY_ID, which begins with key_; imagegend key list --user NAME shows it beside the key's first characters")
	}
	k, err := change(imagegen.KeyID(id))
	if errors.Is(err, imagegen.ErrNotFound) {
		return Key{}, &worded{fmt.Sprintf("there is no key %q; imagegend key list --user NAME shows a user's", id), err}
	}
	return viewKey(k), words(err)
}

// Usage implements Service.
func (l *Local) Usage(ctx context.Context, q UsageQuery) (UsageReport, error) {
	u, err := l.user(ctx, q.User)
	if err != nil {
		return UsageReport{}, err
	}
	report, err := l.Engine.As(u.ID).Usage(ctx, imagegen.UsageQuery{From: q.From.Time, To: q.To.Time, By: q.By})
	return viewUsage(report), words(err)
}

// Generation implements Service. If the audit trail cannot record that somebody looks, the prompt is not shown.
func (l *Local) Generation(ctx context.Context, id string) (Generation, error) {
	r, err := l.Engine.Record(ctx, imagegen.GenerationID(id))
	if err != nil {
		return Generation{}, generationWords(id, err)
	}
	seen := account.TrailRow{Act: account.ActGenerationView, Target: id, User: r.User, Outcome: account.TrailDone}
	if err := l.note(ctx, seen); err != nil {
		return Generation{}, err
	}
	return viewGeneration(r, l.ownerOf(ctx, r)), nil
}

// EraseGeneration implements Service.
func (l *Local) EraseGeneration(ctx context.Context, id string) error {
	return generationWords(id, l.Engine.Erase(ctx, imagegen.GenerationID(id)))
}

// generationWords explains a missing generation. One that was erased and one that never was cannot be told apart.
func generationWords(id string, err error) error {
	if errors.Is(err, imagegen.ErrNotFound) {
		return &worded{fmt.Sprintf("there is no generation %q; it may have been erased", id), err}
	}
	return words(err)
}

// Audit implements Service.
func (l *Local) Audit(ctx context.Context) (imagegen.AuditReport, error) {
	report, err := l.Engine.Audit(ctx)
	report.Violations = listed(report.Violations)
	return report, words(err)
}

// Backup implements Service. The audit trail gets two rows. The first, before anything is read, must succeed, and is
// itself in the archive. The second says how the backup ended; it is written even if ctx has ended, and its failure
// is ignored, since the first one exists.
func (l *Local) Backup(ctx context.Context, w io.Writer) error {
	r := account.TrailRow{Act: account.ActDataBackup, Outcome: account.TrailBegun}
	if err := l.note(ctx, r); err != nil {
		return err
	}
	err := l.DB.Backup(ctx, w)
	if r.Outcome = account.TrailDone; err != nil {
		r.Outcome, r.After = account.TrailFailed, err.Error()
	}
	_ = l.DB.Note(context.WithoutCancel(ctx), r)
	return words(err)
}

// Backups implements Service.
func (l *Local) Backups(context.Context) (Backups, error) { return viewBackups(l.Backing), nil }

// Readiness implements Service.
func (l *Local) Readiness(ctx context.Context) (Readiness, error) {
	return viewReadiness(l.Engine.Readiness(ctx)), nil
}

// Clock implements Service. A leap below zero means that the clock is behind what the store has written.
func (l *Local) Clock(context.Context) (Clock, error) {
	leap, doubt := l.DB.ClockInDoubt()
	switch leap = leap.Round(time.Second); {
	case !doubt:
		return Clock{}, nil
	case leap < 0:
		return Clock{InDoubt: true, Leap: fmt.Sprintf("is %v behind what was written or told", -leap)}, nil
	}
	return Clock{InDoubt: true, Leap: fmt.Sprintf("leapt ahead by %v", leap)}, nil
}

// ConfirmClock implements Service.
func (l *Local) ConfirmClock(ctx context.Context) error { return words(l.DB.ConfirmClock(ctx)) }
