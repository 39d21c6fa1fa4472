package adminserver

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/lists"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// listTrail may return a page that is short, or empty, although others follow: only Next says that it is the last.
func (l *Local) listTrail(ctx context.Context, q admin.TrailQuery) (admin.TrailPage, error) {
	targets := l.Engine.Accounts().TrailTargets(ctx, q.Target) // rows name users by identifier
	p, err := l.DB.Trail(ctx, account.TrailQuery{Actor: q.Actor, Act: q.Act, Targets: targets, Since: q.Since.Time,
		Before: q.Before, Limit: q.Limit})
	name := l.Engine.Accounts().Names(ctx)
	view := func(r account.TrailRow) admin.TrailRow {
		user, err := name(r.User)
		if err != nil || user == string(r.User) {
			user = "" // a row without the name is better than none
		}
		return admin.TrailRow{Seq: r.Seq, Time: at(r.Time), Via: r.Actor.Via, Actor: r.Actor.Name,
			ActorID: r.Actor.User, Address: r.Actor.Address, Act: r.Act, Target: r.Target, User: user, UserID: r.User,
			Before: r.Before, After: r.After, Outcome: r.Outcome, Count: r.Count}
	}
	return admin.TrailPage{Rows: lists.Each(p.Rows, view), Next: p.Next}, words(err)
}

// noteAct records an act that changes nothing in the store. If that fails, the caller must not carry the act out.
func (l *Local) noteAct(ctx context.Context, r account.TrailRow) error {
	if err := l.DB.Note(ctx, r); err != nil {
		return fmt.Errorf("nothing was done, since the audit trail cannot be written: %w", words(err))
	}
	return nil
}

func (l *Local) audit(ctx context.Context, _ admin.None) (imagegen.AuditReport, error) {
	report, err := l.Engine.Audit(ctx)
	report.Violations = listed(report.Violations)
	return report, words(err)
}

// Backup carries out [admin.Backup]. The audit trail gets two rows. The first, before anything is read, must succeed,
// and is itself in the archive. The second says how the backup ended; it is written even if ctx has ended, and its
// failure is ignored, since the first one exists.
func (l *Local) Backup(ctx context.Context, w io.Writer) error {
	r := account.TrailRow{Act: account.ActDataBackup, Outcome: account.TrailBegun}
	if err := l.noteAct(ctx, r); err != nil {
		return err
	}
	err := l.DB.Backup(ctx, w)
	if r.Outcome = account.TrailDone; err != nil {
		r.Outcome, r.After = account.TrailFailed, err.Error()
	}
	_ = l.DB.Note(context.WithoutCancel(ctx), r)
	return words(err)
}

// getBackups returns the zero Backups for a service without backups, whose Schedule is nil.
func (l *Local) getBackups(context.Context, admin.None) (admin.Backups, error) {
	b := l.Backing.State()
	return admin.Backups{Dir: b.Dir, EverySeconds: int64(b.Every / time.Second), Keep: b.Keep, Archives: b.Archives,
		Last: b.Last.Name, LastAt: at(b.Last.At), Bytes: b.Last.Size, FailedAt: at(b.FailedAt), Failure: b.Failure,
		Trouble: l.Backing.Trouble()}, nil
}

func (l *Local) getReadiness(ctx context.Context, _ admin.None) (admin.Readiness, error) {
	r := l.Engine.Readiness(ctx)
	code := func(n imagegen.Notice) string { return n.Code }
	return admin.Readiness{Ready: r.Ready(), Reasons: lists.Each(r.Reasons, code),
		Warnings: lists.Each(r.Warnings, code)}, nil
}

// getClock: a leap below zero means that the clock is behind what the store has written.
func (l *Local) getClock(context.Context, admin.None) (admin.Clock, error) {
	leap, doubt := l.DB.ClockInDoubt()
	switch leap = leap.Round(time.Second); {
	case !doubt:
		return admin.Clock{}, nil
	case leap < 0:
		return admin.Clock{InDoubt: true, Leap: fmt.Sprintf("is %v behind what was written or shown", -leap)}, nil
	}
	return admin.Clock{InDoubt: true, Leap: fmt.Sprintf("leapt ahead by %v", leap)}, nil
}

func (l *Local) confirmClock(ctx context.Context, _ admin.None) (admin.None, error) {
	return admin.None{}, words(l.DB.ConfirmClock(ctx))
}
