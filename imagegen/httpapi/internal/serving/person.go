package serving

import (
	"net/http"

	"github.com/imagegend/imagegend/imagegen/account"
)

// defaultPersonHeaders are the headers in which Open WebUI names the person who asks, with
// ENABLE_FORWARD_USER_INFO_HEADERS (its backend/open_webui/utils/headers.py, read on 2026-11-27).
func defaultPersonHeaders() []string {
	return []string{"X-OpenWebUI-User-Id", "X-OpenWebUI-User-Email"}
}

// person is whom a request names: the first of the headers that is there is the identifier, and the next one a name for
// display. Only keys on behalf of people look at it.
func person(h http.Header, names []string) (p account.Person) {
	named := false
	for _, name := range names {
		values := h.Values(name)
		switch {
		case len(values) == 0:
		case len(values) > 1:
			p.Ambiguous = true
		case !named: // also an empty one: a name for display is never the identifier
			p.ID, named = values[0], true
		case p.Name == "":
			p.Name = values[0]
		}
	}
	return p
}
