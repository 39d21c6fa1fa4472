package engine_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// liar reads well for a while, then says that it has read more than there was room for.
type liar struct{ well int }

func (l *liar) Read(p []byte) (int, error) {
	if l.well -= len(p); l.well < 0 {
		return len(p) + 1, nil
	}
	return len(p), nil
}

func (l *liar) Open(context.Context) (io.ReadCloser, error) { return io.NopCloser(l), nil }

// Open is that of a reference.
func (e endless) Open(context.Context) (io.ReadCloser, error) { return io.NopCloser(e), nil }

// A reader that breaks the rules of io.Reader costs one image: at first, or when it goes to the spool.
func TestBodyThatLies(t *testing.T) {
	for _, well := range []int{0, 1 << 20, 5 << 20} {
		synctest.Test(t, func(t *testing.T) {
			h := start(t, &scripted{caps: anything,
				do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
					error) bool) {
					yield(imagegen.ProviderImage{Body: &liar{well}}, nil)
				}})
			_, err := h.generate(imagegen.GenerateRequest{})
			h.is.True(isCode(err, imagegen.ErrGenerationFailed))
			h.is.Equal(h.balance(), imagegen.Credits(100))
		})
	}
}

// A reference that breaks the rules, or brings nothing for ever, is refused.
func TestReferenceThatLies(t *testing.T) {
	for _, r := range []imagegen.Reference{&liar{}, &liar{1 << 20}, endless{0}} {
		synctest.Test(t, func(t *testing.T) {
			h := start(t, yieldImages(1, nil))
			_, err := h.generate(imagegen.GenerateRequest{References: []imagegen.Reference{r}})
			h.is.True(isCode(err, imagegen.ErrInvalidRequest))
			h.is.Equal(h.balance(), imagegen.Credits(100))
		})
	}
}

// A caller who hangs up while a reference is read gets that as the error, whatever the reason was, and is known
// not to have been charged.
func TestReferenceOfACallerWhoHangsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil))
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errors.New("the tab was closed")) })
		_, err := h.engine.As(alice).
			Generate(ctx, fox(imagegen.GenerateRequest{References: []imagegen.Reference{endless{1}}}))
		h.is.True(errors.Is(err, context.Canceled) && imagegen.Definite(err))
		h.is.Equal(h.balance(), imagegen.Credits(100))
	})
}
