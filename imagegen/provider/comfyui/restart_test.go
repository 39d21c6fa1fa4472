package comfyui_test

import (
	"context"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider/comfyui/internal/comfyuitest"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// An engine that stops without patience leaves the work to ComfyUI; the next one delivers it.
func TestEngineRestarts(t *testing.T) {
	is := is.New(t)
	d := &comfyuitest.Server{}
	p := serve(t, d, nil)
	db := memory.New(nil)
	events := make(chan imagegen.Event, 10)
	start := func() *engine.Engine {
		e, err := engine.New(engine.Config{Store: db, Ledger: db,
			Models:   []engine.Model{{ID: "sdxl", Provider: p, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1}}},
			Observer: imagegen.ObserverFunc(func(_ context.Context, e imagegen.Event) { events <- e })})
		is.NoErr(err)
		is.NoErr(e.Start())
		return e
	}
	_, err := db.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 5})
	is.NoErr(err)

	asked := polled(d)
	first := start()
	_, err = first.As("alice").Generate(t.Context(), imagegen.GenerateRequest{Model: "sdxl",
		Prompt: comfyuitest.Endless, N: 3, Async: true})
	is.NoErr(err)
	is.Equal((<-events).Kind, imagegen.EventAccepted)
	<-asked
	now, cancel := context.WithCancel(t.Context())
	cancel()
	is.NoErr(first.Stop(now))

	is.Equal(len(d.Unfinished()), 1)
	d.Finish()
	second := start()
	defer second.Stop(t.Context())
	e := <-events
	is.Equal(e.Kind, imagegen.EventSettled)
	is.Equal(len(e.Generation.Images), 3)
	is.Equal(len(d.Workflows()), 1) // submitted once
}
