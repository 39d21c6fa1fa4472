package openai

import (
	"net/http"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// OpenAI's word that an overloaded service processed nothing holds for OpenAI's host alone.
func TestOverload(t *testing.T) {
	is := is.New(t)
	f := upstream.Failure{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"5"}},
		Body: []byte(`{"error":{"message":"The server is overloaded.","type":"server_error","param":null,"code":null}}`)}
	e := Config{BaseURL: defaultBaseURL}.classify()(f)
	is.Equal(e.Class, imagegen.ClassUnavailable)
	is.Equal(e.RetryAfter, 5*time.Second)
	is.Equal(Config{BaseURL: "https://api.openai.com.example/v1"}.classify()(f).Class, imagegen.ClassUnknown)
	f.Body = []byte("<html>")
	is.Equal(Config{BaseURL: defaultBaseURL}.classify()(f), nil) // a proxy's page: by its status, unknown
}
