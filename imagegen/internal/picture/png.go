package picture

import (
	"encoding/binary"
	"hash/crc32"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// pngChunks follows a PNG (RFC 2083): the signature, then chunks of length, type, data and CRC.
// Of the compressed pixels it looks at the two bytes of the zlib header only; whether they
// inflate to the image, decoding shows.
type pngChunks struct {
	notes *notes
	at    pngPart
	field field
	kind  [4]byte
	left  uint32 // bytes of the data that are yet to come
	crc   uint32
	data  []byte // the first bytes of all IDAT data: the zlib header
	order pngOrder
}

// pngPart is where in a PNG the next byte belongs.
type pngPart int

const (
	pngBegin pngPart = iota
	pngHead          // length and type
	pngData
	pngCRC
)

// pngOrder is how far the chunks that must come in order have come.
type pngOrder int

const (
	pngNothing pngOrder = iota
	pngHeader           // IHDR has come
	pngPixels           // IDAT is coming
	pngBehind           // another chunk has come behind IDAT
)

// step consumes what p, which is not empty, holds of the current part.
func (c *pngChunks) step(p []byte) (rest []byte, ended bool, err error) {
	done := false
	switch c.at {
	case pngBegin:
		if rest, done = c.field.fillFrom(p, len(pngSignature)); done {
			err = c.beginChunk()
		}
	case pngHead:
		if rest, done = c.field.fillFrom(p, 8); done {
			err = c.head()
		}
	case pngData:
		rest = c.body(p)
	case pngCRC:
		if rest, done = c.field.fillFrom(p, 4); done {
			ended, err = c.endChunk()
		}
	}
	return rest, ended, err
}

func (c *pngChunks) beginChunk() error {
	if string(c.field.bytes[:len(pngSignature)]) != pngSignature {
		return broken("it lacks the signature of a PNG")
	}
	c.at = pngHead
	return nil
}

// head takes the length and the type of a chunk.
func (c *pngChunks) head() error {
	c.left, c.kind = binary.BigEndian.Uint32(c.field.bytes[:]), [4]byte(c.field.bytes[4:])
	c.crc = crc32.ChecksumIEEE(c.kind[:])
	c.at = pngData
	if c.left == 0 {
		c.at = pngCRC
	}
	if c.left > 1<<31-1 {
		return broken("a chunk claims %d bytes", c.left)
	}
	c.notes.beginNote(string(c.kind[:]))
	return c.inOrder()
}

// inOrder checks that a chunk may come here: IHDR first and once, the IDAT chunks one behind
// the other, and an empty IEND after them. Other chunks may come anywhere between.
func (c *pngChunks) inOrder() error {
	kind := string(c.kind[:])
	switch {
	case c.order == pngNothing && kind == "CgBI":
		return broken("it is a PNG of Apple's own kind (CgBI), which other programs cannot read; save it as an ordinary PNG")
	case c.order == pngNothing && (kind != "IHDR" || c.left != 13), c.order != pngNothing && kind == "IHDR":
		return broken("its first chunk must be IHDR, and no other may be")
	case c.order == pngNothing:
		c.order = pngHeader
	case kind == "IDAT" && c.order == pngBehind:
		return broken("its IDAT chunks are not consecutive")
	case kind == "IDAT":
		c.order, c.notes.pixels = pngPixels, true
	case kind == "IEND" && (c.order < pngPixels || c.left != 0):
		return broken("it ends without pixels")
	case c.order == pngPixels:
		c.order = pngBehind
	}
	return nil
}

// body takes data of a chunk, as much as p holds of it, and adds it to the checksum.
func (c *pngChunks) body(p []byte) (rest []byte) {
	data := p[:min(uint64(len(p)), uint64(c.left))]
	c.crc = crc32.Update(c.crc, crc32.IEEETable, data)
	c.notes.collect(data)
	if string(c.kind[:]) == "IDAT" && len(c.data) < 2 {
		c.data = append(c.data, data[:min(len(data), 2-len(c.data))]...)
	}
	if c.left -= uint32(len(data)); c.left == 0 {
		c.at = pngCRC
	}
	return p[len(data):]
}

// endChunk takes the checksum of a chunk, which covers type and data. IEND ends the image.
func (c *pngChunks) endChunk() (ended bool, err error) {
	c.at = pngHead
	if binary.BigEndian.Uint32(c.field.bytes[:]) != c.crc {
		return false, broken("the checksum of a chunk %q is wrong", c.kind)
	}
	c.notes.endNote()
	if string(c.kind[:]) != "IEND" {
		return false, nil
	}
	return true, c.deflated()
}

// deflated checks the header of the compressed pixels (RFC 1950).
func (c *pngChunks) deflated() error {
	const deflate = 8
	if len(c.data) < 2 || c.data[0]&0xf != deflate || c.data[0]>>4 > 7 || c.data[1]&0x20 != 0 ||
		binary.BigEndian.Uint16(c.data)%31 != 0 {
		return broken("its pixels are not a zlib stream")
	}
	return nil
}
