package console_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"iter"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// gate is a provider that waits until it is opened.
type gate struct {
	provider.Fake
	opened chan struct{}
}

func newGate() *gate { return &gate{opened: make(chan struct{})} }

func (g *gate) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		select {
		case <-g.opened:
		case <-ctx.Done():
			yield(imagegen.ProviderImage{}, context.Cause(ctx))
			return
		}
		g.Fake.Generate(ctx, r)(yield)
	}
}

// oneByOne has an engine work behind the gate, on one generation at a time.
func (g *gate) oneByOne(c *engine.Config) { c.Models[0].Provider, c.Limits.Concurrency = g, 1 }

// grant gives credits to the visitor's user.
func (v *visitor) grant(n imagegen.Credits) { v.Grant(v, v.user.ID, n) }

// balance is what the visitor's user can spend.
func (v *visitor) balance() imagegen.Credits {
	v.Helper()
	b, err := v.As(v.user.ID).Balance(v.Context())
	v.is.NoErr(err)
	return b.Credits
}

// made are the generations of the visitor's user, newest first.
func (v *visitor) made() []imagegen.Generation {
	v.Helper()
	p, err := v.As(v.user.ID).Generations(v.Context(), imagegen.Query{Limit: imagegen.MaxPageSize})
	v.is.NoErr(err)
	return p.Generations
}

// begin starts an asynchronous generation of small images.
func (v *visitor) begin(prompt string, n int) imagegen.Generation {
	v.Helper()
	r, err := v.As(v.user.ID).Generate(v.Context(), imagegen.GenerateRequest{Model: imagegentest.Model, Prompt: prompt,
		N: n, Size: imagegen.Size{Width: 64, Height: 48}, Async: true})
	v.is.NoErr(err)
	return r.Generation
}

// reaches waits until a generation of the visitor's user has a status.
func (v *visitor) reaches(id imagegen.GenerationID, s imagegen.Status) imagegen.Generation {
	v.Helper()
	ctx, cancel := context.WithTimeout(v.Context(), time.Minute)
	defer cancel()
	for tick := time.NewTicker(2 * time.Millisecond); ; {
		g, err := v.As(v.user.ID).Generation(v.Context(), id)
		v.is.NoErr(err)
		if g.Status == s {
			tick.Stop()
			return g
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			v.Fatalf("the generation is %s, and not %s within a minute", g.Status, s)
		}
	}
}

// showsSoon reloads a page for up to a minute, until ok returns true.
func (v *visitor) showsSoon(path string, ok func(answer) bool) answer {
	v.Helper()
	ctx, cancel := context.WithTimeout(v.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		a := v.get(path)
		if ok(a) {
			return a
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			v.Fatalf("%s did not come to be as it should within a minute", path)
		}
	}
}

// finish is begin, and waits for the end.
func (v *visitor) finish(prompt string, n int, end imagegen.Status) imagegen.Generation {
	v.Helper()
	return v.reaches(v.begin(prompt, n).ID, end)
}

// picture is a PNG.
func picture(width, height int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		panic(err)
	}
	return b.Bytes()
}
