package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// scripted is a provider that does what a test says.
type scripted struct {
	caps imagegen.Capabilities
	do   func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool)
}

func (p *scripted) Name() string                        { return "scripted" }
func (p *scripted) Capabilities() imagegen.Capabilities { return p.caps }
func (p *scripted) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return func(yield func(imagegen.ProviderImage, error) bool) { p.do(ctx, r, yield) }
}

// yieldImages makes a provider that yields n small pictures and then err.
func yieldImages(n int, err error) *scripted {
	return &scripted{caps: anything,
		do: func(_ context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			for range n {
				if !yield(picture(1024, 1024), nil) {
					return
				}
			}
			if err != nil {
				yield(imagegen.ProviderImage{}, err)
			}
		}}
}

var anything = imagegen.Capabilities{MaxReferences: imagegen.MaxReferences}

func picture(w, h int) imagegen.ProviderImage {
	return imagegen.ProviderImage{Body: bytes.NewReader(pngOf(w, h))}
}

var pngs sync.Map // size → bytes: the race detector makes encoding slow

func pngOf(w, h int) []byte {
	size := imagegen.Size{Width: w, Height: h}
	if b, ok := pngs.Load(size); ok {
		return b.([]byte)
	}
	b := imagegentest.PNG(w, h)
	pngs.Store(size, b)
	return b
}

// harness is an engine over the memory storage.
type harness struct {
	*testing.T
	is     *is.I
	db     *memory.DB
	cfg    engine.Config
	engine *engine.Engine
}

const alice, bob = imagegen.UserID("alice"), imagegen.UserID("bob")

// start makes an engine with the provider and 100 credits for alice. An image costs 1, 2, 4.
func start(t *testing.T, p imagegen.Provider, change ...func(*engine.Config)) *harness {
	t.Helper()
	h := &harness{T: t, is: is.New(t), db: memory.New(nil)}
	h.cfg = engine.Config{Store: h.db, Ledger: h.db, Models: []engine.Model{{ID: "m", Provider: p,
		Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1, "2K": 2, "4K": 4}}}}
	for _, c := range change {
		c(&h.cfg)
	}
	_, err := h.db.Grant(t.Context(), imagegen.Grant{User: alice, Credits: 100})
	h.is.NoErr(err)
	t.Cleanup(func() { // once the engines are stopped
		left, err := imagegentest.LeftBehind(h.db)
		h.is.NoErr(err)
		if len(left) > 0 && !t.Failed() {
			t.Errorf("left behind: %v", left)
		}
	})
	h.restart()
	return h
}

// restart makes another engine over the same storage. It does not stop the former.
func (h *harness) restart() {
	h.Helper()
	var err error
	h.engine, err = engine.New(h.cfg)
	h.is.NoErr(err)
	h.is.NoErr(h.engine.Start())
	service := h.engine
	h.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		service.Stop(ctx)
	})
}

func (h *harness) generate(q imagegen.GenerateRequest) (imagegen.Result, error) {
	h.Helper()
	return h.engine.As(alice).Generate(h.Context(), fox(q))
}

// fox fills in what a test does not care about.
func fox(q imagegen.GenerateRequest) imagegen.GenerateRequest {
	if q.Model == "" {
		q.Model = "m"
	}
	if q.Prompt == "" {
		q.Prompt = "a fox"
	}
	return q
}

func (h *harness) balance() imagegen.Credits {
	h.Helper()
	b, err := h.engine.As(alice).Balance(context.Background())
	h.is.NoErr(err)
	return b.Credits
}

// ended waits for the end of a generation of alice's.
func (h *harness) ended(id imagegen.GenerationID) imagegen.Generation {
	h.Helper()
	return h.endedFor(alice, id)
}

func (h *harness) endedFor(u imagegen.UserID, id imagegen.GenerationID) imagegen.Generation {
	h.Helper()
	for {
		g, err := h.engine.As(u).Generation(h.Context(), id)
		h.is.NoErr(err)
		if g.Status.Terminal() {
			return g
		}
		time.Sleep(10 * time.Millisecond) // virtual where the test is in a bubble
	}
}

// audit checks every invariant of the storage.
func (h *harness) audit() {
	h.Helper()
	report, err := h.db.Audit(context.Background())
	h.is.NoErr(err)
	for _, v := range report.Violations {
		h.Errorf("audit: %s: %s: %s", v.Rule, v.Subject, v.Detail)
	}
}

func readerOf(b []byte) io.Reader { return bytes.NewReader(b) }

// bytesReference is a reference image held in memory.
type bytesReference []byte

func (b bytesReference) Open(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(b)), nil
}

// outside hides that the ledger shares the store's transactions.
type outside struct{ imagegen.Ledger }

func withOutsideLedger(cfg *engine.Config) { cfg.Ledger = outside{cfg.Ledger} }

// eachLedger runs a test with joint commits and with a ledger of its own.
func eachLedger(t *testing.T, f func(t *testing.T, option func(*engine.Config))) {
	t.Run("joint", func(t *testing.T) { f(t, func(*engine.Config) {}) })
	t.Run("outside ledger", func(t *testing.T) { f(t, withOutsideLedger) })
}

func transient(n int) error {
	return &imagegen.ProviderError{Class: imagegen.ClassUnavailable, Err: fmt.Errorf("no. %d", n)}
}

func isCode(err error, want *imagegen.Error) bool {
	_, plain := errors.AsType[*imagegen.Error](err)
	return plain && errors.Is(err, want)
}

// logbook is a log that can be read while it is written.
type logbook struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logbook) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Reset()
}
