package storage_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// studio is an engine over a storage, and its provider, which draws from one reference image.
type studio struct {
	*testing.T
	engine  *engine.Engine
	events  chan imagegen.Event
	drawing chan struct{} // closed when it may begin
	seen    sync.Map      // prompt → SHA-256 of the reference image
}

func newStudio(t *testing.T, db *storage.DB) *studio {
	t.Helper()
	s := &studio{T: t, events: make(chan imagegen.Event, 1000), drawing: make(chan struct{})}
	var err error
	s.engine, err = engine.New(engine.Config{Store: db, Ledger: db, Limits: engine.Limits{Concurrency: 2},
		Models: []engine.Model{{ID: "m", Provider: s,
			Credits: map[imagegen.Tier]imagegen.Credits{imagegen.Tier1K: 1}}},
		Observer: imagegen.ObserverFunc(func(_ context.Context, e imagegen.Event) { s.events <- e })})
	if err == nil {
		err = s.engine.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	return s
}

func (s *studio) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := s.engine.Stop(ctx); err != nil {
		s.Error(err)
	}
}

// ask has alice ask for the n-th picture, to be drawn after another.
func (s *studio) ask(n int) {
	_, err := s.engine.As("alice").Generate(s.Context(), imagegen.GenerateRequest{Model: "m", Prompt: fmt.Sprint(n),
		N: 1, Async: true, Size: imagegen.Size{Width: 16, Height: 16}, References: []imagegen.Reference{sketch(n)}})
	if err != nil {
		s.Error(err)
	}
}

// settled waits until n generations have ended well.
func (s *studio) settled(n int) {
	s.Helper()
	for n > 0 {
		switch e := <-s.events; e.Kind {
		case imagegen.EventSettled:
			n--
		case imagegen.EventFailed:
			s.Fatalf("%s failed: %v", e.Generation.ID, e.Failure)
		}
	}
}

func (*studio) Name() string                        { return "studio" }
func (*studio) Capabilities() imagegen.Capabilities { return imagegen.Capabilities{MaxReferences: 1} }

func (s *studio) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		select {
		case <-s.drawing:
		case <-ctx.Done():
			yield(imagegen.ProviderImage{}, context.Cause(ctx))
			return
		}
		b, err := s.read(ctx, r)
		if err == nil {
			s.seen.Store(r.Prompt, sha256.Sum256(b))
		}
		yield(imagegen.ProviderImage{Body: bytes.NewReader(b)}, err)
	}
}

func (s *studio) read(ctx context.Context, r imagegen.ProviderRequest) ([]byte, error) {
	f, err := r.References[0].Open(ctx)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// sketch is the n-th reference image.
type sketch int

func (n sketch) Open(context.Context) (io.ReadCloser, error) {
	var b bytes.Buffer
	p := image.NewPaletted(image.Rect(0, 0, 16, 16), color.Palette{color.Gray{Y: uint8(n)}})
	return io.NopCloser(&b), png.Encode(&b, p)
}
