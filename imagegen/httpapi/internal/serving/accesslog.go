package serving

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/clientaddr"
)

// logRequest writes the line of the request. It names the route and not the path, in which the
// identifier of an image would let a reader of the log open it.
func (s *Site) logRequest(x *Exchange) {
	level := x.level()
	if !s.access.Enabled(x.Ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 11)
	attrs = append(attrs, slog.String("method", x.Request.Method), slog.String("route", x.Route), slog.Int("status", x.Status),
		slog.Int64("bytes", x.bytes), slog.Float64("duration_ms", float64(time.Since(x.began).Microseconds())/1000))
	if at := clientaddr.Of(x.Request, s.TrustedProxies); at.IsValid() {
		attrs = append(attrs, slog.String("address", at.String()))
	}
	if x.Key != "" {
		attrs = append(attrs, slog.String("key_id", string(x.Key)), slog.String("user_id", string(x.User)))
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

// level is the level of the request in the log. 503 is no error: it is what the service says when it
// has too much to do.
func (x *Exchange) level() slog.Level {
	switch {
	case x.Status >= 500 && x.Status != http.StatusServiceUnavailable:
		return slog.LevelError
	case x.Quiet:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
