package upstreams_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"testing"
)

// serve starts a stand-in and returns its address.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// handler answers all these routes, and sends pictures under /files/.
func handler(all ...routes) http.Handler {
	mux := http.NewServeMux()
	for _, some := range all {
		for pattern, h := range some {
			mux.HandleFunc(pattern, h)
		}
	}
	mux.HandleFunc("GET /files/", sendBlank)
	return mux
}

func sendBlank(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "image/png")
	w.Write(blank)
}

// blank is a picture of tier 1K.
var blank = func() []byte {
	var b bytes.Buffer
	png.Encode(&b, image.NewGray(image.Rect(0, 0, 1024, 1024))) // a buffer takes all
	return b.Bytes()
}()

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

// object is a JSON object.
type object = map[string]any
