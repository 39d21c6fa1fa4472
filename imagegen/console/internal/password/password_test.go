package password_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/console/internal/password"
)

func TestHash(t *testing.T) {
	is := is.New(t)
	h := password.NewHasher()
	hash, err := h.Hash(t.Context(), "correct horse battery")
	is.NoErr(err)
	is.True(strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$"))
	again, err := h.Hash(t.Context(), "correct horse battery")
	is.NoErr(err)
	is.True(hash != again) // each has its salt

	for secret, want := range map[string]bool{"correct horse battery": true, "correct horse batterz": false,
		"correct horse battery ": false, "": false} {
		ok, err := h.Verify(t.Context(), hash, secret)
		is.NoErr(err)
		is.Equal(ok, want)
	}
}

// Hashes of the reference implementation can be verified.
func TestHashOfAnother(t *testing.T) {
	is := is.New(t)
	const hash = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	ok, err := password.NewHasher().Verify(t.Context(), hash, "password")
	is.NoErr(err)
	is.True(ok)
}

// Without a hash, verifying costs as much and always fails.
func TestNoHash(t *testing.T) {
	const key = "IFQ7UXlSxnlJ2Ts+tdRYy6tFP6LWwQM9votp4T7DiRs"
	for _, hash := range []string{
		"",
		"password",
		"$argon2id$v=19$m=19456,t=2,p=1$nnBbZ5QevFnVGwykqujzVw$",
		"$argon2id$v=19$m=19456,t=2,p=1$$" + key,
		"$argon2i$v=19$m=19456,t=2,p=1$nnBbZ5QevFnVGwykqujzVw$" + key,
		"$argon2id$v=16$m=19456,t=2,p=1$nnBbZ5QevFnVGwykqujzVw$" + key,
		"$argon2id$v=19$m=19456,t=0,p=1$nnBbZ5QevFnVGwykqujzVw$" + key,
		"$argon2id$v=19$m=19456,t=2,p=0$nnBbZ5QevFnVGwykqujzVw$" + key,
		"$argon2id$v=19$m=4294967295,t=2,p=1$nnBbZ5QevFnVGwykqujzVw$" + key,
		"$argon2id$v=19$m=19456,t=4294967295,p=1$nnBbZ5QevFnVGwykqujzVw$" + key,
		"$argon2id$v=19$m=19456,t=2,p=1$nnBbZ5QevFnVGwykqujzVw$" + key + "$more",
	} {
		t.Run(hash, func(t *testing.T) {
			is := is.New(t)
			h := password.NewHasher()
			ok, err := h.Verify(t.Context(), hash, "password")
			is.NoErr(err)
			is.True(!ok)
			is.Equal(h.Computed(), int64(1))
		})
	}
}

func TestWaiting(t *testing.T) {
	t.Run("as long as the caller does", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			h := password.NewHasher()
			defer h.Occupy(false)()
			ctx, cancel := context.WithCancel(t.Context())
			var err error
			var wg sync.WaitGroup
			wg.Go(func() { _, err = h.Hash(ctx, "correct horse battery") })
			synctest.Wait() // it waits for a processor
			cancel()
			wg.Wait()
			is.True(errors.Is(err, context.Canceled))
			is.Equal(h.Computed(), int64(0))
		})
	})
	t.Run("until there is a processor", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			h := password.NewHasher()
			free := h.Occupy(false)
			var err error
			var wg sync.WaitGroup
			wg.Go(func() { _, err = h.Hash(t.Context(), "correct horse battery") })
			synctest.Wait()
			is.Equal(h.Computed(), int64(0))
			free()
			wg.Wait()
			is.NoErr(err)
		})
	})
	t.Run("not behind too many", func(t *testing.T) {
		is := is.New(t)
		h := password.NewHasher()
		free := h.Occupy(true)
		_, err := h.Verify(t.Context(), "", "correct horse battery")
		is.True(errors.Is(err, password.ErrBusy))
		free()
		_, err = h.Verify(t.Context(), "", "correct horse battery")
		is.NoErr(err)
	})
	t.Run("patiently behind too many", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			h := password.NewHasher()
			free := h.Occupy(true)
			var err error
			var wg sync.WaitGroup
			wg.Go(func() { _, err = h.VerifyPatiently(t.Context(), "", "correct horse battery") })
			synctest.Wait()
			is.Equal(h.Computed(), int64(0)) // it waits
			free()
			wg.Wait()
			is.NoErr(err)
		})
	})
	t.Run("not for who has gone", func(t *testing.T) {
		is := is.New(t)
		h := password.NewHasher()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := h.Hash(ctx, "correct horse battery")
		is.True(errors.Is(err, context.Canceled))
		is.Equal(h.Computed(), int64(0))
	})
}

func TestManyAtOnce(t *testing.T) {
	is := is.New(t)
	h := password.NewHasher()
	hash, err := h.Hash(t.Context(), "correct horse battery")
	is.NoErr(err)
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			ok, err := h.Verify(t.Context(), hash, "correct horse battery")
			if err == nil && !ok {
				err = errors.New("the password does not fit")
			}
			errs[i] = err
		})
	}
	wg.Wait()
	is.NoErr(errors.Join(errs...))
}
