package serving

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
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
	sent := h.Values("Idempotency-Key")
	switch {
	case len(sent) == 0:
		return "", nil
	case len(sent) > 1:
		return "", imagegen.Invalid("Idempotency-Key was sent twice")
	case !imagegen.ValidIdempotencyKey(sent[0]):
		return "", imagegen.Invalid("Idempotency-Key must be 1 to 255 visible ASCII characters")
	}
	return sent[0], nil
}

// bearer returns the API key that a header carries, without checking its form. ErrMissingKey: there is
// none. ErrInvalidKey: it cannot be read, or there are two headers, which would leave open whose
// request it is.
func bearer(h http.Header) (string, error) {
	sent := h.Values("Authorization")
	if len(sent) == 0 || len(sent) == 1 && strings.TrimSpace(sent[0]) == "" {
		return "", imagegen.ErrMissingKey
	}
	if len(sent) > 1 {
		return "", unreadableKey("the Authorization header was sent twice; send one")
	}
	scheme, key, _ := strings.Cut(strings.TrimSpace(sent[0]), " ")
	key = strings.TrimLeft(key, " ")
	if key == "" || !strings.EqualFold(scheme, "Bearer") {
		return "", unreadableKey("the Authorization header holds no API key that can be read; send Authorization: Bearer <API_KEY>")
	}
	return key, nil
}

func unreadableKey(message string) error {
	return &imagegen.Error{Code: imagegen.CodeInvalidKey, Message: message}
}
