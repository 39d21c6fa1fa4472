package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// fanIn makes n calls for an image each.
func fanIn(ctx context.Context, n int,
	call func(ctx context.Context, i int, yield upstream.Yield) error) upstream.Images {
	return upstream.Sequence(ctx, func(yield upstream.Yield) error {
		return upstream.FanIn(ctx, imagegen.ProviderRequest{N: n}, 1, yield,
			func(ctx context.Context, i int, _ imagegen.ProviderRequest, yield upstream.Yield) error {
				return call(ctx, i, yield)
			})
	})
}

// makes yields an image after some time, and then returns err.
func makes(ctx context.Context, yield upstream.Yield, name string, after time.Duration, err error) error {
	if err := upstream.Sleep(ctx, after); err != nil {
		return err
	}
	if !yield(strings.NewReader(name)) {
		return nil
	}
	return err
}

func drain(images upstream.Images) (got []string, ended error) {
	for i, err := range images {
		if err != nil {
			return got, err
		}
		raw, err := io.ReadAll(i.Body)
		if err != nil {
			return got, err
		}
		got = append(got, string(raw))
	}
	return got, nil
}

func TestGatherYieldsAsTheyCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		start := time.Now()
		got, err := drain(fanIn(t.Context(), 3, func(ctx context.Context, i int, yield upstream.Yield) error {
			return makes(ctx, yield, fmt.Sprint(i), time.Duration(3-i)*time.Second, nil)
		}))
		is.NoErr(err)
		is.Equal(got, []string{"2", "1", "0"})
		is.Equal(time.Since(start), 3*time.Second) // at once, not one after the other
	})
}

func TestGatherKeepsImagesAndTheWorstError(t *testing.T) {
	limited := &imagegen.ProviderError{Class: imagegen.ClassRateLimited}
	refused := &imagegen.ProviderError{Class: imagegen.ClassRefused}
	invalid := &imagegen.ProviderError{Class: imagegen.ClassInvalid}
	away := &imagegen.ProviderError{Class: imagegen.ClassUnavailable}
	other := errors.New("something else")
	for _, c := range []struct {
		errs []error
		want error
	}{
		{[]error{nil, limited, nil}, limited},
		{[]error{away, limited, away}, limited},
		{[]error{limited, invalid, away}, invalid},
		{[]error{refused, invalid, limited}, refused},
		{[]error{limited, refused, other}, other},
		{[]error{nil, nil}, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			got, err := drain(fanIn(t.Context(), len(c.errs),
				func(ctx context.Context, i int, yield upstream.Yield) error {
					return makes(ctx, yield, fmt.Sprint(i), time.Duration(i)*time.Second, c.errs[i])
				}))
			is.Equal(len(got), len(c.errs)) // no error costs an image
			is.Equal(err, c.want)
		})
	}
}

func TestGatherStops(t *testing.T) {
	late := errors.New("late")
	for name, stop := range map[string]func(images upstream.Images, cancel context.CancelCauseFunc) error{
		"when no more is wanted": func(images upstream.Images, _ context.CancelCauseFunc) error {
			for range images {
				break
			}
			return late
		},
		"when the context ends": func(images upstream.Images, cancel context.CancelCauseFunc) (ended error) {
			n := 0
			for _, err := range images {
				if err != nil {
					return err
				}
				n++
				cancel(late)
			}
			return fmt.Errorf("%d images and no error", n)
		},
		"when the reader panics": func(images upstream.Images, _ context.CancelCauseFunc) (err error) {
			defer func() { err = recover().(error) }()
			for range images {
				panic(late)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left behind
				is := is.New(t)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				var running atomic.Int64
				images := fanIn(ctx, 4, func(ctx context.Context, i int, yield upstream.Yield) error {
					running.Add(1)
					defer running.Add(-1)
					return makes(ctx, yield, "x", time.Duration(1+i/2)*time.Hour, nil)
				})
				is.True(errors.Is(stop(images, cancel), late))
				is.Equal(running.Load(), int64(0)) // every call has returned
			})
		})
	}
}

func TestGatherRecovers(t *testing.T) {
	is := is.New(t)
	got, err := drain(fanIn(t.Context(), 2, func(ctx context.Context, i int, yield upstream.Yield) error {
		if i == 0 {
			panic("no")
		}
		return makes(ctx, yield, "x", 0, nil)
	}))
	is.Equal(got, []string{"x"})
	is.True(err != nil && strings.Contains(err.Error(), "panic: no"))
}
