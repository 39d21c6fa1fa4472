package openapitest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Transport returns a RoundTripper that sends requests through next, and checks each answer and each accepted request
// against the document. If one does not conform, RoundTrip or the last Read of the body returns an error.
func (w *Witness) Transport(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
			return response, w.judge(r, response, nil)
		}
		response.Body = &body{ReadCloser: response.Body, end: func(b []byte) error { return w.judge(r, response, b) }}
		return response, nil
	})
}

// judge closes the body of an answer that does not fit, as who returns an error does.
func (w *Witness) judge(r *http.Request, response *http.Response, b []byte) error {
	err := w.compare(r, response, b)
	if err == nil {
		return nil
	}
	response.Body.Close()
	return fmt.Errorf("%s %s was answered with %d, which the document (imagegen/httpapi/openapi) does not tell: %w",
		r.Method, r.URL.Path, response.StatusCode, err)
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// body calls end with all that was read, once it has been.
type body struct {
	io.ReadCloser
	read bytes.Buffer
	end  func([]byte) error
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read.Write(p[:n])
	if errors.Is(err, io.EOF) && b.end != nil {
		end := b.end
		b.end = nil
		if wrong := end(b.read.Bytes()); wrong != nil {
			err = wrong
		}
	}
	return n, err
}
