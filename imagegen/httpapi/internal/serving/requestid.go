package serving

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
)

type requestIDKey struct{}

// RequestID returns the X-Request-Id of the request that ctx belongs to, also in the work that
// goes on after its answer. "": it belongs to none.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// requestID takes over what the caller sent if it is fit for a log, and else makes one.
func requestID(h http.Header) string {
	if id := h.Get("X-Request-Id"); id != "" && len(id) <= 128 && strings.Trim(id, requestIDCharacters) == "" {
		return id
	}
	return rand.Text()
}

const requestIDCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

func withRequestID(r *http.Request) context.Context {
	return context.WithValue(r.Context(), requestIDKey{}, requestID(r.Header))
}

// WithRequestID gives the requests of another handler what those of an Exchange have: an X-Request-Id
// in the answer, and a context for RequestID and NewLogHandler.
func WithRequestID(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := withRequestID(r)
		w.Header().Set("X-Request-Id", RequestID(ctx))
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}

// NewLogHandler returns a handler that adds request_id to each record whose context has one. A
// handler that already does so is returned as it is.
func NewLogHandler(h slog.Handler) slog.Handler {
	if l, ok := h.(logHandler); ok {
		return l
	}
	return logHandler{h}
}

type logHandler struct{ slog.Handler }

func (l logHandler) Handle(ctx context.Context, r slog.Record) error {
	if id := RequestID(ctx); id != "" {
		r = r.Clone()
		r.AddAttrs(slog.String("request_id", id))
	}
	return l.Handler.Handle(ctx, r)
}

func (l logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{l.Handler.WithAttrs(attrs)}
}

func (l logHandler) WithGroup(name string) slog.Handler { return logHandler{l.Handler.WithGroup(name)} }
