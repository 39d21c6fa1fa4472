package picture

import (
	"errors"
	"fmt"
	"strings"
)

// otherLength is how many leading bytes name a format that is not accepted.
const otherLength = 256

// others are the formats that people send although they are not accepted, with text at some place of the head.
var others = []struct {
	name string
	at   int // -1: anywhere
	text string
}{
	{"GIF", 0, "GIF8"}, {"TIFF", 0, "II*\x00"}, {"TIFF", 0, "MM\x00*"}, {"PDF", 0, "%PDF-"}, {"BMP", 0, "BM"},
	{"SVG", -1, "<svg"}, {"AVIF", 4, "ftypavi"}, {"HEIC", 4, "ftyphe"}, {"AVIF", 4, "ftypmif1\x00\x00\x00\x00mif1avif"},
	{"HEIC", 4, "ftypmif1"},
}

// otherFormat is the error for an image in a format that is not accepted.
func otherFormat(head []byte) error {
	for _, o := range others {
		if at := strings.Index(string(head), o.text); at >= 0 && (at == o.at || o.at < 0) {
			return fmt.Errorf("its format is %s", o.name)
		}
	}
	return errors.New("the bytes are of another format")
}
