package ledger_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// Who confirmed the clock stands in the audit trail; that there was nothing to confirm does not.
func TestConfirmationInTheTrail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, wall := open(t), &wallClock{}
		f.reopen(wall.now)
		f.grant(imagegen.Grant{User: "alice", Credits: 10})
		ctx := imagegen.WithActor(t.Context(), imagegen.Actor{Via: "test", Name: "olivia"})
		f.is.NoErr(f.ConfirmClock(ctx))
		wall.ahead = 48 * time.Hour
		f.is.NoErr(f.ConfirmClock(ctx))
		p, err := trail.New(f.db, wall.now).Trail(t.Context(), imagegen.TrailQuery{Act: "clock", Limit: 10})
		f.is.NoErr(err)
		f.is.Equal(len(p.Rows), 1)
		f.is.Equal(p.Rows[0].Act, imagegen.ActClockConfirm)
		f.is.Equal(p.Rows[0].Actor.Name, "olivia")
	})
}
