package cli

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

func TestPersist(t *testing.T) {
	overloaded := &imagegen.Error{Code: imagegen.CodeOverloaded, RetryAfter: 7 * time.Second}
	inUse := &imagegen.Error{Code: imagegen.CodeIdempotencyKeyInUse, RetryAfter: 2 * time.Second}
	lost := imagegen.ErrInternal
	tests := []struct {
		name    string
		answers []error       // the last one for ever
		lasts   time.Duration // each call
		calls   int
		err     error
		took    time.Duration
	}{
		{"answered", []error{nil}, 0, 1, nil, 0},
		{"refused", []error{imagegen.ErrInsufficientCredits}, 0, 1, imagegen.ErrInsufficientCredits, 0},
		{"no answer of a service", []error{context.DeadlineExceeded}, 0, 1, context.DeadlineExceeded, 0},
		{"connection lost twice", []error{imagegen.ErrInternal, imagegen.ErrInternal, nil}, 0, 3, nil, 3 * time.Second},
		{"overloaded for a moment", []error{overloaded, nil}, 0, 2, nil, 7 * time.Second},
		{"never back", []error{imagegen.ErrInternal}, 0, tries, imagegen.ErrInternal, 15 * time.Second},
		{"still running, then lost, then there", []error{inUse, inUse, inUse, inUse, inUse, inUse, imagegen.ErrInternal,
			nil}, 0, 8, nil, 13 * time.Second},
		{"lost now and then", []error{lost, lost, lost, lost, lost, lost, lost, nil}, 2 * time.Minute, 8, nil,
			16*time.Minute + 7*time.Second},
		{"nobody to reach", []error{lost}, 10 * time.Second, tries, lost, 50*time.Second + 15*time.Second},
		{"running for ever", []error{inUse}, 0, 451, inUse, patience},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				began, calls := time.Now(), 0
				_, err := persist(t.Context(), func() (int, error) {
					calls++
					<-time.After(test.lasts)
					return 0, test.answers[min(calls, len(test.answers))-1]
				})
				is.True(errors.Is(err, test.err) || err == nil && test.err == nil)
				is.Equal(calls, test.calls)
				is.Equal(time.Since(began), test.took)
			})
		})
	}
}

func TestPersistEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		_, err := persist(ctx, func() (int, error) { return 0, imagegen.ErrInternal })
		is.True(errors.Is(err, context.DeadlineExceeded))
	})
}
