package serving

import "net/http"

// WithDeadlines gives the answers of another handler the deadlines of an Exchange, so that a peer that
// neither sends the body that it announced nor takes the answer cannot hold its connection. It is for
// handlers that read no body; they must call WriteHeader, which sets the deadlines.
func WithDeadlines(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &Exchange{}
		x.prepare(w, r)
		h.ServeHTTP(x, r)
	})
}
