package httpapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// target is a handler that can be asked again and again: it refuses whatever gets as far as the charge.
func target(f *testing.F) (h http.Handler, key string) {
	e := imagegentest.Start(f, func(c *engine.Config) {
		c.Models[0].Provider = hold()
	})
	return httpapi.NewHandler(e.Engine, httpapi.Options{}), e.Key(f, "nobody") // who has no credits
}

// ask sends a request and checks what holds of every answer.
func ask(t *testing.T, h http.Handler, method, path, body string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	w := request(t, h, method, path, strings.NewReader(body), header)
	if !json.Valid(w.Body.Bytes()) {
		t.Errorf("%d with a body that is not JSON: %q", w.Code, w.Body)
	}
	if w.Code >= 500 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	return w
}

func request(t *testing.T, h http.Handler, method, path string, body io.Reader,
	header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, body)
	r.Header = header
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func FuzzMultipart(f *testing.F) {
	h, key := target(f)
	f.Fuzz(func(t *testing.T, boundary, body string) {
		w := ask(t, h, http.MethodPost, generations, body, http.Header{"Authorization": {"Bearer " + key},
			"Content-Type": {`multipart/form-data; boundary="` + strings.Trim(boundary, `"\`) + `"`}})
		if w.Code != http.StatusBadRequest && w.Code != http.StatusPaymentRequired {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

func FuzzIdempotencyKey(f *testing.F) {
	h, key := target(f)
	f.Fuzz(func(t *testing.T, idempotencyKey string) {
		w := ask(t, h, http.MethodPost, generations, fox(""), http.Header{"Authorization": {"Bearer " + key},
			"Content-Type": {"application/json"}, "Idempotency-Key": {idempotencyKey}})
		want := http.StatusBadRequest
		if imagegen.ValidIdempotencyKey(idempotencyKey) {
			want = http.StatusPaymentRequired
		}
		if w.Code != want {
			t.Errorf("%q: %d %s", idempotencyKey, w.Code, w.Body)
		}
	})
}

func FuzzAuthorization(f *testing.F) {
	h, key := target(f)
	f.Fuzz(func(t *testing.T, authorization string) {
		header := http.Header{"Authorization": {authorization}}
		w := ask(t, h, http.MethodGet, "/api/v1/credits", "", header)
		if want := http.StatusUnauthorized; w.Code != want && !strings.HasSuffix(strings.TrimSpace(authorization), " "+
			key) {
			t.Errorf("%q: %d %s", authorization, w.Code, w.Body)
		}
		missing := strings.Contains(w.Body.String(), string(imagegen.CodeMissingKey))
		if missing != (strings.TrimSpace(authorization) == "") {
			t.Errorf("%q: %s", authorization, w.Body)
		}
	})
}
