package httpapi

import (
	"net/http"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// withKey lets a handler answer for the user whose key came with the request.
func (a *api) withKey(h handle) handle {
	return func(x *exchange) error {
		key, err := bearer(x.request.Header)
		if err != nil {
			return err
		}
		if x.session, err = a.engine.Authenticate(x.request.Context(), key); err != nil {
			return err
		}
		return h(x)
	}
}

// bearer returns the key that a header carries. Two headers leave open whose request it is.
func bearer(h http.Header) (string, error) {
	sent := h.Values("Authorization")
	if len(sent) == 0 || len(sent) == 1 && strings.TrimSpace(sent[0]) == "" {
		return "", imagegen.ErrMissingKey
	}
	scheme, key, _ := strings.Cut(strings.TrimSpace(sent[0]), " ")
	key = strings.TrimLeft(key, " ")
	if len(sent) > 1 || key == "" || !strings.EqualFold(scheme, "Bearer") {
		return "", imagegen.ErrInvalidKey
	}
	return key, nil
}
