package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// acts are those of the engine's trail, newest first.
func acts(t *testing.T, e *engine.Engine) (all []account.Act) {
	t.Helper()
	p, err := e.Trail().Trail(t.Context(), account.TrailQuery{Limit: account.MaxTrailPage})
	is.New(t).NoErr(err)
	for _, r := range p.Rows {
		all = append(all, r.Act)
	}
	return all
}

func TestTrailRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil), func(c *engine.Config) { c.Retention.Trail = 48 * time.Hour })
		note := func(act account.Act) { h.is.NoErr(h.engine.Trail().Note(t.Context(), account.TrailRow{Act: act})) }
		note("old.act")
		time.Sleep(47 * time.Hour)
		note("young.act")
		h.is.Equal(acts(t, h.engine)[:2], []account.Act{"young.act", "old.act"})
		time.Sleep(90 * time.Minute)
		h.is.Equal(acts(t, h.engine), []account.Act{"young.act"})
		h.audit()
	})
}

// An audit stands in the trail, with what it found. One that nobody waited for does not.
func TestAuditsInTheTrail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil))
		before := len(acts(t, h.engine))
		ctx := account.WithActor(t.Context(), account.Actor{Via: "test", Name: "olivia"})
		_, err := h.engine.Audit(ctx)
		h.is.NoErr(err)
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, err = h.engine.Audit(ended)
		h.is.True(errors.Is(err, context.Canceled))
		p, err := h.engine.Trail().Trail(t.Context(), account.TrailQuery{Limit: 10})
		h.is.NoErr(err)
		h.is.Equal(len(p.Rows), before+1)
		row := p.Rows[0]
		h.is.Equal(cmp.Diff(account.TrailRow{Seq: row.Seq, Time: row.Time, Actor: account.ActorOf(ctx),
			Act: account.ActDataAudit, After: "violations=0", Outcome: account.TrailDone, Count: 1}, row), "")
	})
}

// An end by age has no actor; an erasure by a person has, to the end.
func TestErasuresInTheTrail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil), func(c *engine.Config) { c.Retention.Generations = 48 * time.Hour })
		_, err := h.generate(imagegen.GenerateRequest{})
		h.is.NoErr(err)
		second, err := h.generate(imagegen.GenerateRequest{})
		h.is.NoErr(err)
		before := len(acts(t, h.engine))
		h.is.NoErr(h.engine.Erase(t.Context(), second.ID))
		time.Sleep(49 * time.Hour)
		h.is.Equal(acts(t, h.engine)[:len(acts(t, h.engine))-before], []account.Act{account.ActGenerationDelete})
	})
}

func TestActor(t *testing.T) {
	is := is.New(t)
	is.Equal(account.ActorOf(t.Context()), account.Actor{})
	is.Equal(account.Actor{}.String(), "")
	a := account.Actor{Via: account.ViaConsole, Name: "olivia", User: "usr_1", Address: "192.0.2.1"}
	is.Equal(account.ActorOf(account.WithActor(t.Context(), a)), a)
	is.Equal(a.String(), "console:olivia")
}
