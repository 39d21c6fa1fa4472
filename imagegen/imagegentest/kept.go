package imagegentest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// Keeper is a store that lists the files beside it.
type Keeper interface {
	imagegen.Store
	imagegen.Inspector
	Images() []imagegen.ImageKey // thumbnails too
	References() []imagegen.ReferenceID
}

// Tidied is a storage that Tidy tests.
type Tidied interface {
	Storage
	Keeper
}

// LeftBehind names the files that lie there, although no record needs them: images that their generations do not name,
// and reference images of work that has ended.
func LeftBehind(db Keeper) (left []string, err error) {
	ctx := context.Background()
	references, images := db.References(), db.Images()
	for _, k := range images {
		r, err := db.Generation(ctx, k.Generation)
		if err != nil && !errors.Is(err, imagegen.ErrNotFound) {
			return nil, err
		}
		original := k
		original.Image = k.Image.Original()
		named := slices.ContainsFunc(r.Images, func(i imagegen.StoredImage) bool { return r.ImageKey(i) == original })
		if !named && !r.Unsettled() {
			left = append(left, fmt.Sprintf("image %s of attempt %d of generation %s in state %q", k.Image, k.Attempt,
				k.Generation, r.State))
		}
	}
	const page = 100
	for after := imagegen.GenerationID(""); ; {
		open, _, err := db.Unsettled(ctx, after, page)
		if err != nil {
			return nil, err
		}
		for _, r := range open {
			after = r.ID
			references = slices.DeleteFunc(references, func(id imagegen.ReferenceID) bool {
				return slices.ContainsFunc(r.References, func(f imagegen.ReferenceFile) bool { return f.ID == id })
			})
		}
		if len(open) < page {
			break
		}
	}
	for _, id := range references {
		left = append(left, "reference image "+string(id))
	}
	return left, nil
}

// Tidy has work end in every way over a storage: each time no file stays but what a record needs, while the process
// runs on.
func Tidy(t *testing.T, open func(t *testing.T) Tidied) {
	db := open(t)
	gate := gated{&provider.Fake{}, make(chan struct{})}
	e := StartOver(t, db, func(c *engine.Config) { c.Limits.Concurrency, c.Models[0].Provider = 1, gate })
	for _, async := range []bool{false, true} {
		for _, prompt := range []string{"a fox", "[fake:fail]", "[fake:refuse]", "[fake:images=1]", "[fake:corrupt]",
			"[fake:panic]", "[fake:transient=1]"} {
			w := tidying{t, is.New(t), db, e, fmt.Sprintf("%s, async %t", prompt, async)}
			g, err := w.ask(t.Context(), prompt, async)
			w.is.True(!async || err == nil)
			w.ended(g.ID)
			w.tidy()
		}
	}
	w := tidying{t, is.New(t), db, e, "cancelled"}
	ctx, hangUp := context.WithCancel(t.Context())
	running, err := w.ask(ctx, gatedPrompt, true)
	w.is.NoErr(err)
	waiting, err := w.ask(ctx, "a fox", true)
	w.is.NoErr(err)
	_, err = e.As(Alice).Cancel(ctx, waiting.ID)
	w.is.NoErr(err)
	w.tidy()
	hangUp()
	close(gate.open)
	w.ended(running.ID)

	w.what = "refused"
	_, err = w.ask(ctx, "a fox", false) // its caller has gone
	w.is.True(err != nil)
	_, err = e.As(Bob).Generate(t.Context(), imagegen.GenerateRequest{Model: Model, Prompt: "a fox", N: 4,
		References: w.references()})
	w.is.True(errors.Is(err, imagegen.ErrInsufficientCredits))
	w.tidy()

	w.what = "erased"
	page, err := e.As(Alice).Generations(t.Context(), imagegen.Query{Limit: imagegen.MaxPageSize})
	w.is.NoErr(err)
	for _, g := range page.Generations {
		w.is.NoErr(e.Erase(t.Context(), g.ID))
	}
	w.tidy()
	w.is.Equal(len(db.Images()), 0)
	w.is.Equal(len(db.References()), 0)
}

// gated holds up whatever has gatedPrompt, until it is open.
type gated struct {
	*provider.Fake
	open chan struct{}
}

const gatedPrompt = "a fox behind a gate"

func (g gated) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	if r.Prompt == gatedPrompt {
		<-g.open
	}
	return g.Fake.Generate(ctx, r)
}

// tidying is a storage with an engine, and what has just been done.
type tidying struct {
	*testing.T
	is     *is.I
	db     Keeper
	engine *engine.Engine
	what   string
}

func (tidying) references() []imagegen.Reference {
	return []imagegen.Reference{pngReference(PNG(30, 30)), pngReference(PNG(40, 40))}
}

type pngReference []byte

func (p pngReference) Open(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(p)), nil
}

// ask asks for two images by two reference images.
func (w tidying) ask(ctx context.Context, prompt string, async bool) (imagegen.Result, error) {
	return w.engine.As(Alice).Generate(ctx, imagegen.GenerateRequest{Model: Model, Prompt: prompt, N: 2, Async: async,
		References: w.references()})
}

// ended waits for the end of a generation, if there is one.
func (w tidying) ended(id imagegen.GenerationID) {
	w.Helper()
	for id != "" {
		g, err := w.engine.As(Alice).Await(context.Background(), id, time.Minute)
		w.is.NoErr(err)
		if g.Status.Terminal() {
			return
		}
	}
}

// tidy waits until no file is left behind. Files go when the end of their work is durable; the engine's upkeep, which
// would remove them too, has no turn before the wait is given up.
func (w tidying) tidy() {
	w.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		left, err := LeftBehind(w.db)
		w.is.NoErr(err)
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			w.Fatalf("%s: left behind: %v", w.what, left)
		}
	}
}
