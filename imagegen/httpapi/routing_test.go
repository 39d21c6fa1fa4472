package httpapi_test

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
)

// These are requests that our client does not send.
func TestRawRequests(t *testing.T) {
	s := serve(t, httpapi.Options{})
	for request, want := range map[string]int{
		"GET http://x HTTP/1.1\r\nHost: x\r\n\r\n": 404,
		"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n":  404,
		"GET /api/v1/models HTTP/1.1\r\n\r\n":      400, // no Host
		// needs none
		"GET /api/v1/models HTTP/1.0\r\n\r\n": 200,
		// names addresses
		"GET /api/v1/generations HTTP/1.0\r\nAuthorization: Bearer " + s.key + "\r\n\r\n":               400,
		"GET /api/v1/generations HTTP/1.1\r\nHost: a\"b\r\nAuthorization: Bearer " + s.key + "\r\n\r\n": 400,
		// a name with a slash in it
		"GET /api/v1%2Fmodels HTTP/1.1\r\nHost: x\r\n\r\n": 404,
		"GET /api%2fv1/models HTTP/1.1\r\nHost: x\r\n\r\n": 404,
		"GET /api/v1/%6Dodels HTTP/1.1\r\nHost: x\r\n\r\n": 200,
		"GET /api/v1/%zz HTTP/1.1\r\nHost: x\r\n\r\n":      400,
	} {
		c, err := net.Dial("tcp", s.server.Listener.Addr().String())
		s.is.NoErr(err)
		_, err = c.Write([]byte(request))
		s.is.NoErr(err)
		a, err := http.ReadResponse(bufio.NewReader(c), nil)
		s.is.NoErr(err)
		if a.StatusCode != want {
			t.Errorf("%q: got %d, want %d", request, a.StatusCode, want)
		}
		c.Close()
	}
}

// A compressed body is refused as that, before anything of it is read.
func TestCompressedBodies(t *testing.T) {
	s := serve(t, httpapi.Options{})
	contentType, form := formOf(foxForm()...)
	for _, a := range []answer{
		s.post(fox(""), "Content-Encoding", "gzip"),
		s.post(form, "Content-Type", contentType, "Content-Encoding", "br, gzip"),
		s.quote(fox(""), "Content-Encoding", "zstd"),
		s.post(fox(""), "Content-Encoding", "aws-chunked"),
		s.post(fox(""), "Content-Encoding", "utf-8, gzip"),
	} {
		message := s.refused(a, http.StatusUnsupportedMediaType, "unsupportedEncoding")
		s.is.True(strings.Contains(message, "Content-Encoding \""))
		s.is.Equal(a.Header.Get("Accept-Encoding"), "identity")
	}
	s.untouched()
	for _, plain := range []string{"identity", "utf-8", "UTF8"} {
		s.accepted(s.post(fox(""), "Content-Encoding", plain), http.StatusOK)
	}
}

// A base address that lacks its last part is what is wrong, not the method.
func TestBaseAddressOfOpenAIsClients(t *testing.T) {
	s := serve(t, httpapi.Options{})
	for _, path := range []string{"/images/generations", "/images/edits"} {
		message := s.refused(s.do("POST", path, fox("")), http.StatusMethodNotAllowed, "methodNotAllowed")
		s.is.True(strings.Contains(message, "is at /v1"+path))
	}
	s.refused(s.do("POST", "/images/image_1", ""), http.StatusMethodNotAllowed, "methodNotAllowed")
}

// A boundary that needs quotes and has none is named as that.
func TestBoundaryWithoutQuotes(t *testing.T) {
	s := serve(t, httpapi.Options{})
	message := s.refused(s.post("--a=b--\r\n", "Content-Type", "multipart/form-data; boundary=a=b"),
		http.StatusBadRequest, imagegen.CodeInvalidRequest)
	s.is.True(strings.Contains(message, `must be quoted: boundary="a=b"`))
}
