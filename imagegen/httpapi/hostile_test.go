package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen/httpapi"
)

// What follows a request with chunks on its connection is not served: a proxy that went by a length
// beside the chunks took it for the body of that request.
func TestNothingIsSmuggledBehindChunks(t *testing.T) {
	s := serve(t, httpapi.Options{})
	c, err := net.Dial("tcp", strings.TrimPrefix(s.server.URL, "http://"))
	s.is.NoErr(err)
	defer c.Close()
	request := "POST " + generations + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + s.key +
		"\r\nContent-Type: application/json\r\n"
	fmt.Fprintf(c, "%sContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n%sContent-Length: %d\r\n\r\n%s",
		request, request, len(fox("")), fox(""))
	r := bufio.NewReader(c)
	a, err := http.ReadResponse(r, nil)
	s.is.NoErr(err)
	s.is.Equal(a.StatusCode, http.StatusBadRequest)
	s.is.True(a.Close)
	_, err = io.Copy(io.Discard, a.Body)
	s.is.NoErr(err)
	_, err = r.ReadByte()
	s.is.True(err != nil)
	s.untouched()
}

// counted is how much of a body was read.
type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// The header of a part is held in memory: one that goes on and on is given up early.
func TestLongPartHeader(t *testing.T) {
	s := serve(t, httpapi.Options{})
	h := httpapi.NewHandler(s.Engine, httpapi.Options{})
	for name, begin := range map[string]string{
		"one line":      "--b\r\nContent-Disposition: form-data; name=\"" + strings.Repeat("a", 1<<20),
		"many lines":    "--b\r\n" + strings.Repeat("A: "+strings.Repeat("b", 100)+"\r\n", 1<<14),
		"before a part": strings.Repeat("\r\n", 1<<19),
		"the second part": "--b\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\na fox\r\n--b\r\nA: " +
			strings.Repeat("a", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			body := &counted{Reader: strings.NewReader(begin)}
			w := request(t, h, http.MethodPost, generations, body, http.Header{"Authorization": {"Bearer " + s.key},
				"Content-Type": {"multipart/form-data; boundary=b"}})
			if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "longer than 65536 bytes") ||
				body.n > 200_000 {
				t.Errorf("%d %s after %d bytes", w.Code, w.Body, body.n)
			}
		})
	}
	long := part{name: "image", file: strings.Repeat("a", 60_000), value: picture(30, 30)}
	s.accepted(s.postForm(foxForm(long, long)...), http.StatusOK)
}
