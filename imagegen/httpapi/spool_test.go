package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// A form that is wrong leaves none of its files behind, whenever that shows.
func TestNothingIsLeftInTheSpool(t *testing.T) {
	var spool imagegentest.CountedSpool
	s := serve(t, httpapi.Options{}, spool.Watch)
	good := part{name: "image", file: "a.png", value: picture(30, 30)}
	contentType, whole := formOf(append([]part{good, good}, foxForm()...)...)
	poor := "Bearer " + s.Key(t, "nobody")
	for name, ask := range map[string]func() answer{
		"a field after the files": func() answer { return s.postForm(good, good, part{name: "cfg_scale", value: "7"}) },
		"a field missing":         func() answer { return s.postForm(good, good) },
		"a bad file": func() answer {
			return s.postForm(good, good, part{name: "image", file: "b", value: "x"})
		},
		"cut short": func() answer {
			return s.post(whole[:strings.LastIndex(whole, "fox")], "Content-Type", contentType)
		},
		"too poor": func() answer { return s.post(whole, "Content-Type", contentType, "Authorization", poor) },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			before := spool.Staged()
			is.True(ask().StatusCode >= http.StatusBadRequest)
			is.True(spool.Staged() >= before+2 || name == "too poor" && spool.Staged() == before)
			is.Equal(spool.Held(), 0)
		})
	}
}
