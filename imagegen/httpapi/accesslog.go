package httpapi

import (
	"errors"
	"log/slog"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/clientaddr"
)

// logRequest writes the line of the request.
func (a *api) logRequest(x *exchange) {
	level := x.level()
	if !a.access.Enabled(x.ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 11)
	attrs = append(attrs, slog.String("method", x.request.Method), slog.String("route", x.route), slog.Int("status", x.status),
		slog.Int64("bytes", x.bytes), slog.Float64("duration_ms", float64(time.Since(x.began).Microseconds())/1000))
	if at := clientaddr.Of(x.request, a.options.TrustedProxies); at.IsValid() {
		attrs = append(attrs, slog.String("address", at.String()))
	}
	if x.session != nil {
		attrs = append(attrs, slog.String("key_id", string(x.session.KeyID())), slog.String("user_id", string(x.session.User())))
	}
	if g := x.about(); g != "" {
		attrs = append(attrs, slog.String("generation_id", string(g)))
	}
	if x.err != nil {
		attrs = append(attrs, slog.Any("error", x.err))
	}
	attrs = append(attrs, slog.String("request_id", x.ctx.id))
	a.access.LogAttrs(x.ctx, level, "request", attrs...)
}

// about is the generation that the answer is about; "" if it is about none.
func (x *exchange) about() imagegen.GenerationID {
	if e, ok := errors.AsType[*imagegen.Error](x.err); ok && e.Generation != "" {
		return e.Generation
	}
	return x.generation
}
