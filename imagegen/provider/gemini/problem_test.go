package gemini

import (
	"net/http"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// Google's word that a failure is not billed holds for Google's host and the API's own errors.
func TestFailuresThatAreNotBilled(t *testing.T) {
	own := `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`
	for _, c := range []struct {
		baseURL string
		status  int
		body    string
		class   imagegen.Class
	}{
		{defaultBaseURL, http.StatusServiceUnavailable, own, imagegen.ClassUnavailable},
		{defaultBaseURL, http.StatusInternalServerError, own, imagegen.ClassUnavailable},
		{defaultBaseURL, http.StatusGatewayTimeout, own, imagegen.ClassUnknown},
		{defaultBaseURL, http.StatusServiceUnavailable, "<html>", imagegen.ClassUnknown},
		{"https://gateway.example.com", http.StatusServiceUnavailable, own, imagegen.ClassUnknown},
	} {
		f := upstream.Failure{Status: c.status, Body: []byte(c.body)}
		e := Config{BaseURL: c.baseURL}.classify()(f)
		if e == nil {
			e = f.Error()
		}
		is.New(t).Equal(e.Class, c.class)
	}
}
