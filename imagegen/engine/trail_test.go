package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"
)

// acts are those of the engine's trail, newest first.
func acts(t *testing.T, e *engine.Engine) (all []imagegen.Act) {
	t.Helper()
	p, err := e.Trail().Trail(t.Context(), imagegen.TrailQuery{Limit: imagegen.MaxTrailPage})
	is.New(t).NoErr(err)
	for _, r := range p.Rows {
		all = append(all, r.Act)
	}
	return all
}

func TestTrailRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil), func(c *engine.Config) { c.TrailRetain = 48 * time.Hour })
		note := func(act imagegen.Act) { h.is.NoErr(h.engine.Trail().Note(t.Context(), imagegen.TrailRow{Act: act})) }
		note("old.act")
		time.Sleep(47 * time.Hour)
		note("young.act")
		h.is.Equal(acts(t, h.engine)[:2], []imagegen.Act{"young.act", "old.act"})
		time.Sleep(90 * time.Minute)
		h.is.Equal(acts(t, h.engine), []imagegen.Act{"young.act"})
		h.audit()
	})
}

// An audit stands in the trail, with what it found. One that nobody waited for does not.
func TestAuditsInTheTrail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil))
		before := len(acts(t, h.engine))
		ctx := imagegen.WithActor(t.Context(), imagegen.Actor{Via: "test", Name: "olivia"})
		_, err := h.engine.Audit(ctx)
		h.is.NoErr(err)
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, err = h.engine.Audit(ended)
		h.is.True(errors.Is(err, context.Canceled))
		p, err := h.engine.Trail().Trail(t.Context(), imagegen.TrailQuery{Limit: 10})
		h.is.NoErr(err)
		h.is.Equal(len(p.Rows), before+1)
		row := p.Rows[0]
		h.is.Equal(cmp.Diff(imagegen.TrailRow{Seq: row.Seq, Time: row.Time, Actor: imagegen.ActorOf(ctx), Act: imagegen.ActDataAudit,
			After: "violations=0", Outcome: imagegen.TrailDone, Count: 1}, row), "")
	})
}

// What ends by its age is nobody's act; what somebody erases is theirs, to the end.
func TestErasuresInTheTrail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil), func(c *engine.Config) { c.Retain = 48 * time.Hour })
		_, err := h.generate(imagegen.GenerateRequest{})
		h.is.NoErr(err)
		second, err := h.generate(imagegen.GenerateRequest{})
		h.is.NoErr(err)
		before := len(acts(t, h.engine))
		h.is.NoErr(h.engine.Erase(t.Context(), second.ID))
		time.Sleep(49 * time.Hour)
		h.is.Equal(acts(t, h.engine)[:len(acts(t, h.engine))-before], []imagegen.Act{imagegen.ActGenerationDelete})
	})
}

func TestActor(t *testing.T) {
	is := is.New(t)
	is.Equal(imagegen.ActorOf(t.Context()), imagegen.Actor{})
	is.Equal(imagegen.Actor{}.String(), "")
	a := imagegen.Actor{Via: imagegen.ViaConsole, Name: "olivia", User: "usr_1", Address: "192.0.2.1"}
	is.Equal(imagegen.ActorOf(imagegen.WithActor(t.Context(), a)), a)
	is.Equal(a.String(), "console:olivia")
}
