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

// makes yields an image after some time, then an error unless it is nil.
func makes(ctx context.Context, name string, after time.Duration, err error) upstream.Images {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		select {
		case <-time.After(after):
		case <-ctx.Done():
			yield(imagegen.ProviderImage{}, context.Cause(ctx))
			return
		}
		if name != "" && !yield(imagegen.ProviderImage{Body: strings.NewReader(name)}, nil) {
			return
		}
		if err != nil {
			yield(imagegen.ProviderImage{}, err)
		}
	}
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
		got, err := drain(upstream.FanIn(t.Context(), 3, func(ctx context.Context, i int) upstream.Images {
			return makes(ctx, fmt.Sprint(i), time.Duration(3-i)*time.Second, nil)
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
			got, err := drain(upstream.FanIn(t.Context(), len(c.errs), func(ctx context.Context, i int) upstream.Images {
				return makes(ctx, fmt.Sprint(i), time.Duration(i)*time.Second, c.errs[i])
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
				images := upstream.FanIn(ctx, 4, func(ctx context.Context, i int) upstream.Images {
					return func(yield func(imagegen.ProviderImage, error) bool) {
						running.Add(1)
						defer running.Add(-1)
						makes(ctx, "x", time.Duration(1+i/2)*time.Hour, nil)(yield)
					}
				})
				is.True(errors.Is(stop(images, cancel), late))
				is.Equal(running.Load(), int64(0)) // every call has returned
			})
		})
	}
}

func TestGatherRecovers(t *testing.T) {
	is := is.New(t)
	got, err := drain(upstream.FanIn(t.Context(), 2, func(ctx context.Context, i int) upstream.Images {
		if i == 0 {
			panic("no")
		}
		return makes(ctx, "x", 0, nil)
	}))
	is.Equal(got, []string{"x"})
	is.True(err != nil && strings.Contains(err.Error(), "panic: no"))
}
