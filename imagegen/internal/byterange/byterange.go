// Package byterange decides which Range headers are honoured.
package byterange

import (
	"net/http"
	"strings"
)

// Most is how many parts of a file one request can ask for. Each costs a look-up, and a header of its
// own in the answer.
const Most = 16

// Honoured returns r or, if its Range is not honoured, a copy without it, so that the whole file is sent:
// the unit is not bytes, or there are more than Most parts.
func Honoured(r *http.Request) *http.Request {
	asked := r.Header.Get("Range")
	if asked == "" || strings.HasPrefix(asked, "bytes=") && strings.Count(asked, ",") < Most {
		return r
	}
	whole := r.Clone(r.Context())
	whole.Header.Del("Range")
	return whole
}
