package serving

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/httpguard"
)

// Repeats reports whether the client says that the request repeats an earlier one, as OpenAI's clients
// do of their own accord.
func Repeats(h http.Header) bool {
	n, err := strconv.Atoi(h.Get("X-Stainless-Retry-Count"))
	return err == nil && n > 0
}

// Costly reports whether credits were taken, or may have been, by a call that ended with err. Those
// of a failed generation are back, but a repetition would charge again.
func Costly(err error) bool {
	e, ok := errors.AsType[*imagegen.Error](err)
	return !ok || e.Code == imagegen.CodeGenerationFailed || e.Code == imagegen.CodeInternal && e.Generation != ""
}

// IdempotencyKey returns the key that a header carries; "" if there is none.
func IdempotencyKey(h http.Header) (string, error) {
	key, err := httpguard.One(h, "Idempotency-Key")
	if err == nil && h["Idempotency-Key"] != nil && !imagegen.ValidIdempotencyKey(key) {
		err = imagegen.Invalid("Idempotency-Key must be 1 to 255 visible ASCII characters")
	}
	return key, err
}
