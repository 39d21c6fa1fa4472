package httpapi_test

import (
	"bufio"
	"net"
	"net/http"
	"testing"

	"github.com/imagegend/imagegend/imagegen/httpapi"
)

// What no client of ours sends.
func TestRawRequests(t *testing.T) {
	s := serve(t, httpapi.Options{})
	for request, want := range map[string]int{
		"GET http://x HTTP/1.1\r\nHost: x\r\n\r\n":                                                      404,
		"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n":                                                       404,
		"GET /api/v1/models HTTP/1.1\r\n\r\n":                                                           400, // no Host
		"GET /api/v1/models HTTP/1.0\r\n\r\n":                                                           200, // needs none
		"GET /api/v1/generations HTTP/1.0\r\nAuthorization: Bearer " + s.key + "\r\n\r\n":               400, // names addresses
		"GET /api/v1/generations HTTP/1.1\r\nHost: a\"b\r\nAuthorization: Bearer " + s.key + "\r\n\r\n": 400,
		"GET /api/v1/%zz HTTP/1.1\r\nHost: x\r\n\r\n":                                                   400,
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
