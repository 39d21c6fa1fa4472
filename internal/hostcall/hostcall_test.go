package hostcall_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/hostcall"
)

// What a function of the host does wrong is the host's fault: never that of the caller, and never a crash.
func TestErrors(t *testing.T) {
	refusal := imagegen.ChargeRefused("the trial is over")
	for name, test := range map[string]struct {
		f    func(context.Context) (int, error)
		want error
		log  string
	}{
		"a value":   {func(context.Context) (int, error) { return 7, nil }, nil, ""},
		"a refusal": {func(context.Context) (int, error) { return 0, refusal }, refusal, ""},
		"another error": {func(context.Context) (int, error) { return 0, errors.New("no database") },
			imagegen.ErrInternal, "no database"},
		"a deadline of its own": {func(context.Context) (int, error) { return 0, context.DeadlineExceeded },
			imagegen.ErrInternal, "deadline"},
		"a panic": {func(context.Context) (int, error) { panic("nil map") }, imagegen.ErrInternal, "nil map"},
		"the end of its goroutine": {func(context.Context) (int, error) { runtime.Goexit(); return 0, nil },
			imagegen.ErrInternal, "goroutine"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			value, err := hostcall.Do(t.Context(), "the function", test.f)
			is.True(errors.Is(err, test.want))
			if test.want == nil {
				is.Equal(value, 7)
				return
			}
			is.True(strings.Contains(err.Error(), test.log))
		})
	}
}

// A function that hangs is left after two seconds, and so many that hang are not asked again until one has returned.
func TestHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		release := make(chan struct{})
		hang := func(context.Context) (int, error) { <-release; return 0, nil }
		began := time.Now()
		errs := make(chan error)
		for range 512 {
			go func() { _, err := hostcall.Do(t.Context(), "the function", hang); errs <- err }()
		}
		synctest.Wait()
		_, err := hostcall.Do(t.Context(), "the function", hang)
		is.True(errors.Is(err, imagegen.ErrOverloaded))
		is.Equal(time.Since(began), time.Duration(0)) // at once
		for range 512 {
			is.True(errors.Is(<-errs, imagegen.ErrOverloaded))
		}
		is.Equal(time.Since(began), hostcall.Limit)
		close(release)
		synctest.Wait()
		_, err = hostcall.Do(t.Context(), "the function", hang)
		is.NoErr(err)
	})
}

// A caller who has gone away gets the cause of that.
func TestCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(gone) })
		_, err := hostcall.Do(ctx, "the function", func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		is.Equal(err, gone)
	})
}
