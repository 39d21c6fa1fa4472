package hostile_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

const generationsPath = "/api/v1/images/generations"

// dial connects as a client that sends what it likes.
func (h *target) dial() (*net.TCPConn, error) {
	c, err := net.Dial("tcp", strings.TrimPrefix(h.URL, "http://"))
	if err != nil {
		return nil, err
	}
	c.SetDeadline(time.Now().Add(20 * time.Second))
	return c.(*net.TCPConn), nil
}

// say sends bytes and returns the status of each answer. Once so many have come it says that there
// is no more to be sent, which the daemon takes for hanging up, and waits for the connection's end.
func (h *target) say(sent string, answers int) ([]int, error) {
	c, err := h.dial()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	written := make(chan struct{})
	go func() {
		defer close(written)
		io.WriteString(c, sent) // an error: the daemon has heard enough
	}()
	in := bufio.NewReader(c)
	some, err := statuses(in, answers)
	if err != nil {
		return some, err
	}
	<-written
	c.CloseWrite()
	rest, err := statuses(in, -1)
	return append(some, rest...), err
}

// statuses reads so many answers, or fewer if the connection ends before; -1 is all.
func statuses(r *bufio.Reader, most int) (all []int, err error) {
	for len(all) != most {
		a, err := http.ReadResponse(r, nil)
		if err == nil {
			all = append(all, a.StatusCode)
			_, err = io.Copy(io.Discard, a.Body)
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return all, err
		}
		if err != nil {
			return all, nil // closed, or reset by a daemon that would not read on
		}
	}
	return all, nil
}

// head begins a request for images. fields are header lines, each with its line break.
func (h *target) head(fields string) string {
	return "POST " + generationsPath + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + h.key + "\r\n" + fields +
		"\r\n"
}

// post is a whole request for images.
func (h *target) post(contentType, body string) string {
	return h.head(fmt.Sprintf("Content-Type: %s\r\nContent-Length: %d\r\n", contentType, len(body))) + body
}

const foxJSON = `{"model":"fake-1","prompt":"a fox","size":"48x32"}`

// form is a form with a reference image; first is put before its parts.
func form(first string) (contentType, body string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	w.SetBoundary("b")
	w.WriteField("model", "fake-1")
	w.WriteField("prompt", "a fox with a reference")
	w.WriteField("size", "48x32")
	part, _ := w.CreateFormFile("reference_image", "fox.png") // a buffer takes all
	part.Write(reference)
	w.Close()
	return w.FormDataContentType(), first + b.String()
}

// part is one part of a form with that boundary.
func part(disposition, value string) string {
	return "--b\r\nContent-Disposition: " + disposition + "\r\n\r\n" + value + "\r\n"
}

// chunked encodes a body in chunks of a few bytes.
func chunked(body string) string {
	var b strings.Builder
	for len(body) > 0 {
		n := min(len(body), 64)
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	return b.String() + "0\r\n\r\n"
}

// reference is a small picture.
var reference = func() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 48, 32))); err != nil {
		panic(err)
	}
	return b.Bytes()
}()
