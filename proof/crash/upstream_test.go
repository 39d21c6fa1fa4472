package crash_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"iter"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// upstream makes the images, for one process after the other.
type upstream struct {
	mu    sync.Mutex
	calls map[string]int  // by ProviderRequest.Key
	saved map[string]bool // that a job was, likewise
}

func newUpstream() *upstream { return &upstream{calls: map[string]int{}, saved: map[string]bool{}} }

func (u *upstream) call(key string) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls[key]++
	return u.calls[key]
}

func (u *upstream) isSaved(key string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.saved[key]
}

func (u *upstream) save(key string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.saved[key] = true
}

// order is what the upstream does with a request.
type order struct {
	images    int           // that come
	err       error         // behind them
	transient int           // so many calls fail before one works
	takes     time.Duration // before each image
	job       bool          // it hands out a job, which a later call continues
}

// provider is the provider of one process.
type provider struct {
	*upstream
	*steps
	order   order
	charged func() bool
	blame   func(format string, args ...any)
}

func (*provider) Name() string { return "upstream" }
func (*provider) Capabilities() imagegen.Capabilities {
	return imagegen.Capabilities{MaxReferences: imagegen.MaxReferences}
}

func (p *provider) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		if err := p.generate(ctx, r, yield); err != nil {
			yield(imagegen.ProviderImage{}, err)
		}
	}
}

func (p *provider) generate(ctx context.Context, r imagegen.ProviderRequest,
	yield func(imagegen.ProviderImage, error) bool) error {
	if err := act(p.steps, "submit", func() error { return nil }); err != nil {
		return &imagegen.ProviderError{Class: imagegen.ClassUnavailable, Err: err}
	}
	if !p.stood() && !p.charged() {
		p.blame("%s is submitted without an open charge", r.Key)
	}
	if p.call(r.Key) <= p.order.transient {
		return &imagegen.ProviderError{Class: imagegen.ClassUnavailable}
	}
	if p.order.job && r.Job == nil {
		if !p.stood() && p.isSaved(r.Key) { // one that has stood still does not know yet
			p.blame("%s is submitted again, though its job was saved", r.Key)
		}
		if err := r.SaveJob(ctx, []byte("job of "+r.Key)); err != nil {
			return err
		}
		p.save(r.Key)
	}
	for _, reference := range r.References {
		f, err := reference.Open(ctx)
		if err != nil {
			return err
		}
		f.Close()
	}
	for range min(p.order.images, r.N) {
		if err := p.work(ctx); err != nil {
			return err
		}
		if !yield(imagegen.ProviderImage{Body: bytes.NewReader(dot)}, nil) {
			return nil
		}
	}
	return p.order.err
}

// work takes its time, unless the process dies or is asked to stop.
func (p *provider) work(ctx context.Context) error {
	select {
	case <-time.After(p.order.takes):
	case <-p.died:
		return errDead
	case <-ctx.Done():
		return ctx.Err()
	}
	return act(p.steps, "image", func() error { return nil })
}

// dot is the smallest picture that can be asked for.
var dot = func() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewPaletted(image.Rect(0, 0, edge, edge), color.Palette{color.White})); err != nil {
		panic(err)
	}
	return b.Bytes()
}()

const edge = 16
