package serving

import (
	"net/http"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// Bearer returns the API key that a header carries. Two headers leave open whose request it is. ErrMissingKey,
// ErrInvalidKey.
func Bearer(h http.Header) (string, error) {
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
