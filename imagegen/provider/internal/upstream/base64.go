package upstream

import (
	"bufio"
	"encoding/base64"
	"errors"
	"io"
)

// Base64 decodes what r holds while it is read: base64 alone, or a data: URL.
func Base64(r io.Reader) io.Reader { return &decoder{in: r} }

type decoder struct {
	in  io.Reader
	out io.Reader // once the beginning was looked at
}

var errDataURL = errors.New("the data URL is not in base64")

// maxDataURLHead is the longest that may stand before the comma of a data URL.
const maxDataURLHead = 256

func (d *decoder) Read(p []byte) (int, error) {
	if d.out == nil {
		if err := d.begin(); err != nil {
			return 0, err
		}
	}
	return d.out.Read(p)
}

func (d *decoder) begin() error {
	b := bufio.NewReaderSize(d.in, 16<<10)
	if scheme, _ := b.Peek(len("data:")); string(scheme) == "data:" {
		head, err := b.ReadSlice(',')
		if err != nil || len(head) > maxDataURLHead {
			return errDataURL
		}
	}
	d.out = base64.NewDecoder(base64.StdEncoding, b)
	return nil
}
