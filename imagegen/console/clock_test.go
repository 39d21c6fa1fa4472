package console_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// An operator sees that the clock is in doubt and confirms it, which the audit trail records.
func TestClockIsConfirmed(t *testing.T) {
	var ahead time.Duration
	db := memory.New(&memory.Options{Now: func() time.Time { return time.Now().Add(ahead) }})
	s := openOver(t, func(c *engine.Config) { c.Store, c.Ledger, c.Images, c.Spool = db, db, db, db },
		func(c *console.Config) { c.Operations = console.EngineOperations{Engine: c.Engine} })
	v := s.operator()
	s.is.True(!v.get("system").has("Warning"))
	s.is.True(v.get("system/clock").has("The clock is trusted."))

	db.Now()
	ahead = 25 * time.Hour
	s.is.True(v.get("system").has("Warning: the clock leapt ahead by 25h0m", `href="/console/system/clock"`, ">ready<"))
	s.is.True(v.get("system/clock").has("leapt ahead by 25h0m", s.clock.Now().Format(time.DateTime)+" UTC",
		"The clock is right</button>"))
	_, doubt := db.ClockInDoubt()
	s.is.True(doubt) // to look changes nothing
	s.is.True(v.follow(v.post("system/clock")).has("The clock is trusted."))
	_, doubt = db.ClockInDoubt()
	s.is.True(!doubt)
	s.is.True(!v.get("system").has("Warning"))

	p, err := db.Trail(t.Context(), account.TrailQuery{Act: string(account.ActClockConfirm), Limit: 9})
	s.is.NoErr(err)
	s.is.Equal(len(p.Rows), 1)
	s.is.Equal(cmp.Diff(account.Actor{Via: account.ViaConsole, Name: "olivia", User: v.user.ID, Address: "192.0.2.1"},
		p.Rows[0].Actor), "")
}

// A user who is not an operator cannot see or confirm the clock.
func TestClockIsForOperators(t *testing.T) {
	w := &works{status: console.Status{Warnings: []imagegen.Notice{{Code: "clock", Detail: "<the clock leapt>"},
		{Code: "disk", Detail: "nearly full"}}}}
	s := open(t, func(c *console.Config) { c.Operations = w })
	s.is.True(s.operator().get("system").has("Warning: &lt;the clock leapt&gt;.", "Warning: nearly full."))
	v := s.signedIn("alice")
	s.is.Equal(v.get("system/clock").StatusCode, 404)
	s.is.Equal(v.post("system/clock").StatusCode, 404)
}
