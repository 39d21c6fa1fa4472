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

func TestUnknownPaths(t *testing.T) {
	s := serve(t, httpapi.Options{})
	for _, path := range []string{"/", "/api", "/api/v1", "/api/v1/models/", "/API/v1/models", "//api/v1/models", "/api/v1//models",
		"/api/v1/credits/", "/api/v1/generations/", "/api/v1/generations/a/b", "/api/v2/models", "/images", "/images/", "/images/a/b", "/healthz/"} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "OPTIONS", "BREW"} {
			a := s.do(method, path, "")
			if method == "HEAD" {
				s.is.Equal(a.StatusCode, http.StatusNotFound)
				continue
			}
			s.refused(a, http.StatusNotFound, imagegen.CodeNotFound)
			s.is.Equal(a.Header.Get("Location"), "") // no redirect
		}
	}
}

func TestMethods(t *testing.T) {
	s := serve(t, httpapi.Options{})
	for path, allow := range map[string]string{
		"/api/v1/models":             "GET, HEAD, OPTIONS",
		"/api/v1/credits":            "GET, HEAD, OPTIONS",
		"/api/v1/generations":        "GET, HEAD, OPTIONS",
		"/api/v1/generations/gen_1":  "GET, HEAD, OPTIONS",
		"/api/v1/images/generations": "OPTIONS, POST",
		"/images/image_1":            "GET, HEAD, OPTIONS",
		"/healthz":                   "GET, HEAD, OPTIONS",
		"/readyz":                    "GET, HEAD, OPTIONS",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "BREW"} {
			if strings.Contains(allow, method) {
				continue
			}
			a := s.do(method, path, "", "Authorization", "-") // the method comes before the key
			s.is.Equal(a.Header.Get("Allow"), allow)
			s.is.Equal(a.StatusCode, http.StatusMethodNotAllowed)
			if method != "HEAD" {
				s.refused(a, http.StatusMethodNotAllowed, "methodNotAllowed")
			}
		}
		a := s.do("OPTIONS", path, "", "Authorization", "-", "Origin", "https://app.example", "Access-Control-Request-Method", "GET")
		s.is.Equal(a.StatusCode, http.StatusNoContent)
		s.is.Equal(a.Header.Get("Allow"), allow)
		s.is.Equal(a.Header.Get("Access-Control-Allow-Origin"), "") // off unless configured
		s.is.Equal(a.body, "")
	}
}

func TestHeadIsGet(t *testing.T) {
	s := serve(t, httpapi.Options{})
	g := s.accepted(s.post(fox("")), http.StatusOK)
	for _, path := range []string{"/api/v1/models", "/api/v1/credits", "/api/v1/generations", "/api/v1/generations/" + g.ID,
		strings.TrimPrefix(g.Images[0].URL, s.server.URL), "/healthz", "/readyz", "/api/v1/generations/gen_1", "/images/image_1"} {
		get, head := s.do("GET", path, ""), s.do("HEAD", path, "")
		s.is.Equal(head.StatusCode, get.StatusCode)
		s.is.Equal(head.ContentLength, int64(len(get.body)))
		s.is.Equal(head.body, "")
		for _, h := range []http.Header{get.Header, head.Header} {
			h.Del("X-Request-Id")
			h.Del("Date")
		}
		s.is.Equal(head.Header, get.Header)
	}
}

func TestCORS(t *testing.T) {
	s := serve(t, httpapi.Options{CORSOrigins: []string{"https://app.example"}})
	a := s.do("OPTIONS", generations, "", "Authorization", "-", "Origin", "https://app.example", "Access-Control-Request-Method", "POST")
	s.is.Equal(a.StatusCode, http.StatusNoContent)
	s.is.Equal(a.Header.Get("Access-Control-Allow-Origin"), "https://app.example")
	s.is.Equal(a.Header.Get("Access-Control-Allow-Methods"), "OPTIONS, POST")
	s.is.True(strings.Contains(a.Header.Get("Access-Control-Allow-Headers"), "Idempotency-Key"))

	a = s.do("GET", "/api/v1/credits", "", "Origin", "https://app.example", "Authorization", "-")
	s.is.Equal(a.Header.Get("Access-Control-Allow-Origin"), "https://app.example") // an error can be read, too
	s.is.True(strings.Contains(a.Header.Get("Access-Control-Expose-Headers"), "Retry-After"))
	s.is.Equal(a.Header.Get("Vary"), "Origin")

	for _, origin := range []string{"https://other.example", "https://app.example.evil", "null", "-"} {
		a = s.do("GET", "/api/v1/models", "", "Origin", origin)
		s.is.Equal(a.Header.Get("Access-Control-Allow-Origin"), "")
		s.is.Equal(a.Header.Get("Vary"), "Origin")
	}
	s = serve(t, httpapi.Options{CORSOrigins: []string{"*"}})
	s.is.Equal(s.do("GET", "/api/v1/models", "", "Origin", "https://any.example").Header.Get("Access-Control-Allow-Origin"), "https://any.example")
}

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
