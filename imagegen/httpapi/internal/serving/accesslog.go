package serving

import (
	"errors"
	"log/slog"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/clientaddr"
)

// logRequest writes the line of the request.
func (s *Site) logRequest(x *Exchange) {
	level := x.Level(x.Quiet)
	if !s.access.Enabled(x.Ctx, level) {
		return
	}
	attrs := x.Attrs(x.Request.Method, x.Route, clientaddr.Of(x.Request, s.TrustedProxies))
	if x.Key != "" {
		attrs = append(attrs, slog.String("key_id", string(x.Key)))
	}
	if x.User != "" {
		attrs = append(attrs, slog.String("user_id", string(x.User)))
	}
	if g := x.about(); g != "" {
		attrs = append(attrs, slog.String("generation_id", string(g)))
	}
	if x.Err != nil {
		attrs = append(attrs, slog.Any("error", x.Err))
	}
	attrs = append(attrs, slog.String("request_id", RequestID(x.Ctx)))
	s.access.LogAttrs(x.Ctx, level, "request", attrs...)
}

// about is the generation that the answer is about; "" if it is about none.
func (x *Exchange) about() imagegen.GenerationID {
	if e, ok := errors.AsType[*imagegen.Error](x.Err); ok && e.Generation != "" {
		return e.Generation
	}
	return x.Generation
}
