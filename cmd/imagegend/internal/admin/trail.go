package admin

import (
	"context"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// TrailQuery selects rows of the audit trail, as [account.TrailQuery] does. Target may also be the name of a user.
type TrailQuery struct {
	Actor  string `json:"actor"`
	Act    string `json:"act"`
	Target string `json:"target"`
	Since  Time   `json:"since"`
	Before uint64 `json:"before"`
	Limit  int    `json:"limit"`
}

// TrailPage is one page of the audit trail, newest first.
type TrailPage struct {
	Rows []TrailRow `json:"rows"`
	Next uint64     `json:"next"` // Before of the next page; 0: this page is the last
}

// TrailRow is one row of the audit trail. Before and After are texts that the act wrote; they never hold a secret or
// a prompt.
type TrailRow struct {
	Seq     uint64               `json:"seq"`
	Time    Time                 `json:"time"`
	Via     string               `json:"via"`
	Actor   string               `json:"actor"`
	ActorID imagegen.UserID      `json:"actor_id"`
	Address string               `json:"address"`
	Act     account.Act          `json:"act"`
	Target  string               `json:"target"`
	User    string               `json:"user"` // name of the user who owns the target
	UserID  imagegen.UserID      `json:"user_id"`
	Before  string               `json:"before"`
	After   string               `json:"after"`
	Outcome account.TrailOutcome `json:"outcome"`
	Count   int                  `json:"count"`
}

// Trail implements Service. A page can be short, or empty, although others follow: only Next says that it is the
// last.
func (l *Local) Trail(ctx context.Context, q TrailQuery) (TrailPage, error) {
	// Rows name users by identifier. A target that is no user's name is taken as an identifier.
	if u, err := l.Engine.Accounts().UserByName(ctx, q.Target); err == nil {
		q.Target = string(u.ID)
	}
	p, err := l.DB.Trail(ctx, account.TrailQuery{Actor: q.Actor, Act: q.Act, Target: q.Target, Since: q.Since.Time, Before: q.Before, Limit: q.Limit})
	names := make(map[imagegen.UserID]string)
	view := func(r account.TrailRow) TrailRow { return viewTrailRow(r, l.name(ctx, r.User, names)) }
	return TrailPage{each(p.Rows, view), p.Next}, words(err)
}

// name returns a user's name, or "" if there is no such user. It remembers what it found: the rows of a page are
// often about few users.
func (l *Local) name(ctx context.Context, id imagegen.UserID, found map[imagegen.UserID]string) string {
	name, known := found[id]
	if !known && id != "" {
		if u, err := l.Engine.Accounts().User(ctx, id); err == nil {
			name = u.Name
		}
		found[id] = name
	}
	return name
}

// viewTrailRow shows a row. user is the name of the user whose the target is, which the row has as an identifier.
func viewTrailRow(r account.TrailRow, user string) TrailRow {
	return TrailRow{Seq: r.Seq, Time: Time{r.Time}, Via: r.Actor.Via, Actor: r.Actor.Name, ActorID: r.Actor.User, Address: r.Actor.Address,
		Act: r.Act, Target: r.Target, User: user, UserID: r.User, Before: r.Before, After: r.After, Outcome: r.Outcome, Count: r.Count}
}

// note records an act that changes nothing in the store. If that fails, the caller must not carry the act out.
func (l *Local) note(ctx context.Context, r account.TrailRow) error {
	if err := l.DB.Note(ctx, r); err != nil {
		return fmt.Errorf("nothing was done, since the audit trail cannot be written: %w", words(err))
	}
	return nil
}
