package console_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A connection ends after a request with both chunks and a length: a proxy may take what follows for the body of that
// request.
func TestNothingIsSmuggledBehindChunks(t *testing.T) {
	s := open(t)
	server := httptest.NewServer(s.Console)
	defer server.Close()
	c, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
	s.is.NoErr(err)
	defer c.Close()
	fmt.Fprint(c,
		"POST /console/signin HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"+
			"GET /console/signin HTTP/1.1\r\nHost: x\r\n\r\n")
	r := bufio.NewReader(c)
	a, err := http.ReadResponse(r, nil)
	s.is.NoErr(err)
	s.is.True(a.Close)
	_, err = io.Copy(io.Discard, a.Body)
	s.is.NoErr(err)
	_, err = r.ReadByte()
	s.is.True(err != nil)
}
