package httpapi

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
)

// awaited reads the generation that the route names. If the caller prefers to wait, it reads it when
// it has ended or the wait is over, and says so; if the engine answers sooner, it does not.
func (x *exchange) awaited() (imagegen.Generation, error) {
	id, wait := imagegen.GenerationID(x.id), preferredWait(x.Request.Header)
	if wait == 0 {
		return x.session.Generation(x.Ctx, id)
	}
	began := time.Now()
	g, err := x.session.Await(x.Ctx, id, wait)
	if err == nil && (g.Status.Terminal() || time.Since(began) >= wait) {
		x.Header().Set("Preference-Applied", "wait="+serving.Seconds(wait))
	}
	return g, err
}

// preferredWait is how long a caller prefers to wait, by RFC 7240, at most imagegen.MaxAwait. 0: it does
// not say so, or not in a way that can be read; a preference may be ignored. The first wait counts.
func preferredWait(h http.Header) time.Duration {
	for _, preference := range strings.Split(strings.Join(h.Values("Prefer"), ","), ",") {
		preference, _, _ = strings.Cut(preference, ";")
		name, value, _ := strings.Cut(preference, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "wait") {
			continue
		}
		seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31)
		if err != nil && !errors.Is(err, strconv.ErrRange) { // ParseUint returns the largest number then
			return 0
		}
		return min(time.Duration(seconds)*time.Second, imagegen.MaxAwait)
	}
	return 0
}
