package byterange_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/internal/byterange"
)

func TestHonoured(t *testing.T) {
	parts := func(n int) string { return "bytes=" + strings.Repeat("0-0,", n-1) + "0-0" }
	for name, c := range map[string]struct{ sent, left string }{
		"none":               {"", ""},
		"one part":           {"bytes=1-3", "bytes=1-3"},
		"the most parts":     {parts(byterange.Most), parts(byterange.Most)},
		"one part too many":  {parts(byterange.Most + 1), ""},
		"thousands of parts": {parts(8000), ""},
		"another unit":       {"lines=1-3", ""},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := &http.Request{Header: http.Header{"Range": {c.sent}, "If-Range": {"x"}}}
			honoured := byterange.Honoured(r)
			is.Equal(honoured.Header.Get("Range"), c.left)
			is.Equal(honoured.Header.Get("If-Range"), "x")
			is.Equal(r.Header.Get("Range"), c.sent) // the request itself stays as it is
		})
	}
}
