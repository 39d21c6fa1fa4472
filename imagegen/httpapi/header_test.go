package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// Names in any other form would be sent, but not be found by what looks at the header on its way.
func TestHeaderNamesAreCanonical(t *testing.T) {
	is := is.New(t)
	e := imagegentest.Start(t)
	key := e.Key(t, imagegentest.Alice)
	e.Grant(t, imagegentest.Alice, 100)
	g, err := e.As(imagegentest.Alice).Generate(t.Context(), imagegen.GenerateRequest{Model: imagegentest.Model,
		Prompt: "a fox"})
	is.NoErr(err)
	h := httpapi.NewHandler(e.Engine, httpapi.Options{CORSOrigins: []string{"*"}})
	for path, status := range map[string]int{
		"/api/v1/models":                        http.StatusOK,
		"/api/v1/credits":                       http.StatusOK,
		"/api/v1/generations/" + string(g.ID):   http.StatusOK,
		"/images/" + string(g.Images[0].ID):     http.StatusOK,
		"/nowhere":                              http.StatusNotFound,
		"/api/v1/images/generations":            http.StatusMethodNotAllowed,
		"/api/v1/generations/gen_of_nobody_yet": http.StatusNotFound,
	} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Origin", "https://app.example.com")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		is.Equal(w.Code, status)
		for name, values := range w.Header() {
			is.Equal(name, http.CanonicalHeaderKey(name))
			is.True(len(values) == 1 || name == "Vary") // said once
		}
	}
}

// Scripts of an allowed origin may send the headers that they ask for, also those of clients yet to come, and read
// those of the answers that docs/api.md describes.
func TestHeadersForScripts(t *testing.T) {
	s := serve(t, httpapi.Options{CORSOrigins: []string{"https://app.example.com"}})
	preflight := func(origin string) string {
		return s.do("OPTIONS", "/api/v1/generations/gen_1", "", "Origin", origin, "Access-Control-Request-Method",
			"GET", "Access-Control-Request-Headers", "authorization,user-agent,x-stainless-new").
			Header.Get("Access-Control-Allow-Headers")
	}
	s.is.Equal(preflight("https://app.example.com"), "authorization,user-agent,x-stainless-new")
	s.is.Equal(preflight("https://other.example.com"), "")
	s.is.Equal(s.do("GET", "/api/v1/usage", "", "Authorization", "Bearer "+s.key).Header.Values("Vary"),
		[]string{"Origin", "Accept"})
	a := s.do("GET", "/api/v1/models", "", "Origin", "https://app.example.com")
	for _, name := range []string{"Content-Range", "ETag", "Location", "Preference-Applied", "Retry-After"} {
		s.is.True(slices.Contains(strings.Split(a.Header.Get("Access-Control-Expose-Headers"), ", "), name))
	}
}
