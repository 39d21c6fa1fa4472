// Package byterange decides which Range headers are honoured.
package byterange

import (
	"net/http"
	"strings"
)

// Most is how many parts of a file one request can ask for. Each is looked at, and answered with a
// header of its own.
const Most = 16

// Honoured is r without a Range that counts for nothing, so that the whole is sent: one of another unit
// than bytes, or of more than Most parts.
func Honoured(r *http.Request) *http.Request {
	asked := r.Header.Get("Range")
	if asked == "" || strings.HasPrefix(asked, "bytes=") && strings.Count(asked, ",") < Most {
		return r
	}
	whole := r.Clone(r.Context())
	whole.Header.Del("Range")
	return whole
}
