package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
)

// conn is one connection that sends requests whose bytes are ready and reads answers no further
// than it must, so that the load takes as little of the machine as it can.
type conn struct {
	net.Conn
	r *bufio.Reader
}

func dial(address string) (*conn, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &conn{c, bufio.NewReaderSize(c, 64<<10)}, nil
}

// do sends a request and reads the answer to its end. body takes the answer's, which is thrown away where it is nil.
func (c *conn) do(request []byte, body *bytes.Buffer) (status int, err error) {
	if _, err := c.Write(request); err != nil {
		return 0, err
	}
	line, err := c.r.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < len("HTTP/1.1 200") {
		return 0, fmt.Errorf("load: a strange answer: %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, err
	}
	length, err := c.header()
	if err != nil {
		return 0, err
	}
	switch {
	case length < 0 && body != nil:
		return 0, errors.New("load: an answer that is to be kept comes in chunks")
	case length < 0:
		return status, c.chunks()
	case body != nil:
		_, err = io.CopyN(body, c.r, int64(length))
	default:
		_, err = c.r.Discard(length)
	}
	return status, err
}

// header reads the header and returns the body's length; -1 if it comes in chunks.
func (c *conn) header() (length int, err error) {
	length = -1
	for {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			return length, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		}
	}
}

func (c *conn) chunks() error {
	for {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 64)
		if err != nil {
			return errors.Join(err, io.ErrUnexpectedEOF)
		}
		if _, err := c.r.Discard(int(n) + len("\r\n")); err != nil || n == 0 {
			return err
		}
	}
}
