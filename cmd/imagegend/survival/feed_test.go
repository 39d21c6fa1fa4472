package survival_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

// withFeed are the settings of a daemon that keeps a feed, and lets programs read it.
var withFeed = []string{"--events", "--ops-addr", "127.0.0.1:0", "--ops-admin"}

// follower is a program of the operator's that reads the feed from one daemon after the other, and goes on from its
// place each time.
type follower struct {
	storagetest.FeedReader
	key string
}

func newFollower(t *testing.T, d *daemontest.Daemon) *follower {
	t.Helper()
	var made struct{ Key string }
	check(t, json.Unmarshal([]byte(d.Admin("ops-key", "create", "reader", "--scope", "read", "--json")), &made))
	return &follower{key: made.Key}
}

// follow reads from the daemon that ask returns, until ctx ends. One that is at fault may give no answer.
func (f *follower) follow(ctx context.Context, ask func() *daemontest.Daemon) {
	for ctx.Err() == nil {
		asking, cancel := context.WithTimeout(ctx, patience)
		f.read(asking, ask())
		cancel()
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// read reads one page.
func (f *follower) read(ctx context.Context, d *daemontest.Daemon) {
	c, err := admin.New(d.OpsURL(), f.key, nil)
	if err != nil {
		return
	}
	page, err := admin.ListEvents.Do(ctx, c, admin.EventsQuery{After: f.Place(), Limit: 50})
	if err != nil {
		return
	}
	for _, e := range page.Events {
		f.Events = append(f.Events, imagegen.FeedEvent{Number: e.Number, ID: e.ID, Kind: e.Type})
	}
}

// keeper is the storage of daemons that have ended.
type keeper interface {
	imagegen.Store
	imagegen.FeedKeeper
	imagegen.CreditAdmin
}

// compareFeed compares what the program has read, once it has read the rest, with the feed, and that with journals and
// generations.
func (s *workload) compareFeed(db keeper) {
	s.Helper()
	is, f := is.New(s.T), s.follower
	is.True(len(f.Events) > 0)
	s.auditor.outcomes["events read meanwhile"] = len(f.Events)
	is.NoErr(f.Read(s.Context(), db))
	users, err := db.Users(s.Context())
	is.NoErr(err)
	fed := storagetest.Fed{Store: db, Ledger: db, Fact: func(ok bool, format string, args ...any) {
		if !ok {
			s.auditor.violated(format, args...)
		}
	}}
	for _, u := range users {
		fed.Users = append(fed.Users, u.ID)
	}
	whole, generations := fed.Compare(s.Context(), f.Events)
	s.auditor.outcomes["events"], s.auditor.outcomes["generations in the feed"] = len(whole), generations
}
