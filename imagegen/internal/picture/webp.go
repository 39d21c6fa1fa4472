package picture

import "encoding/binary"

// webpChunks follows a WebP: a RIFF of a length, and chunks that fill it, each padded to an even
// length. The format has no checksums, so this finds an image that was cut off or whose chunks
// do not add up, and nothing else.
type webpChunks struct {
	notes *notes
	at    webpPart
	field field
	riff  int64 // bytes of the file that are yet to come
	left  int64 // bytes of the chunk, with its padding, that are yet to come
	image bool  // a chunk with pixels has come
	moves bool  // a frame of an animation has come
}

// webpPart is where in a WebP the next byte belongs.
type webpPart int

const (
	webpBegin webpPart = iota
	webpHead           // name and length of a chunk
	webpData
)

// step consumes what p, which is not empty, holds of the current part.
func (c *webpChunks) step(p []byte) (rest []byte, ended bool, err error) {
	done := false
	switch c.at {
	case webpBegin:
		if rest, done = c.field.fillFrom(p, 12); done {
			err = c.beginChunk()
		}
	case webpHead:
		if rest, done = c.field.fillFrom(p, 8); done {
			err = c.head()
		}
	case webpData:
		n := min(int64(len(p)), c.left)
		rest = p[n:]
		c.notes.collect(p[:n])
		c.took(n)
	}
	switch {
	case err != nil || c.at != webpHead || c.field.n > 0 || c.riff > 0:
		return rest, false, err
	case c.moves && !c.image:
		return rest, false, broken("it is an animation; a single picture is needed")
	case !c.image:
		return rest, false, broken("it ends without pixels")
	}
	return rest, true, nil
}

func (c *webpChunks) beginChunk() error {
	b := c.field.bytes
	if string(b[:4]) != "RIFF" || string(b[8:12]) != "WEBP" {
		return broken("it does not begin as a WebP does")
	}
	c.riff = int64(binary.LittleEndian.Uint32(b[4:])) - 4 // of which four were read
	c.at = webpHead
	if c.riff < 8 {
		return broken("it ends without pixels")
	}
	return nil
}

// head takes the name and the length of a chunk.
func (c *webpChunks) head() error {
	name, length := string(c.field.bytes[:4]), int64(binary.LittleEndian.Uint32(c.field.bytes[4:]))
	c.riff -= 8
	c.left = length + length%2
	if c.left > c.riff {
		return broken("a chunk %q of %d bytes is longer than the file claims to be", name, length)
	}
	c.image = c.image || name == "VP8 " || name == "VP8L"
	c.moves = c.moves || name == "ANMF"
	c.notes.pixels = c.image
	c.notes.lossy = c.notes.lossy || name == "VP8 "
	if webpKeeps(name) {
		c.notes.kept += 8 + c.left
	}
	c.notes.beginNote(name)
	c.at = webpData
	c.took(0)
	return nil
}

// took counts bytes of a chunk. 0 ends a chunk without data.
func (c *webpChunks) took(n int64) {
	c.riff -= n
	if c.left -= n; c.left == 0 {
		c.notes.endNote()
		c.at = webpHead
	}
}
