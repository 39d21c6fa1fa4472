package fakeimage

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
)

// encoder is an io.Reader of the PNG of what it draws (RFC 2083). Only as much is drawn as is read, so that a picture
// of any size takes a few rows of memory; image/png would need all of it beforehand.
type encoder struct {
	draw       func(row []byte) // the next row
	remaining  int              // rows
	row, above []byte           // above the first row there are zeros
	filtered   []byte           // row as it is compressed: the type of its filter and the differences
	deflated   bytes.Buffer     // what deflate has written, until it makes a chunk
	deflate    *zlib.Writer
	out        bytes.Buffer // what is yet to be read
	ended      bool         // out holds the end of the file
}

// chunkBytes is the least that an image data chunk holds, unless it is the last.
const chunkBytes = 32 << 10

// newEncoder returns one whose pixels take depth bytes: three, or four with their opacity.
func newEncoder(width, height, depth int, draw func(row []byte)) *encoder {
	e := &encoder{draw: draw, remaining: height}
	e.row, e.above = make([]byte, depth*width), make([]byte, depth*width)
	e.filtered = make([]byte, 1+depth*width)
	e.deflate, _ = zlib.NewWriterLevel(&e.deflated, zlib.BestSpeed) // fails for no valid level
	e.out.WriteString("\x89PNG\r\n\x1a\n")
	e.chunk("IHDR", header(width, height, depth))
	return e
}

// header is the content of the IHDR chunk (RFC 2083, section 4.1.1).
func header(width, height, depth int) []byte {
	colour := byte(2) // red, green, blue
	if depth == 4 {
		colour = 6 // and opacity
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(width))
	b = binary.BigEndian.AppendUint32(b, uint32(height))
	return append(b, 8, colour, 0, 0, 0) // 8 bits, not interlaced
}

// Read implements io.Reader.
func (e *encoder) Read(p []byte) (int, error) {
	for e.out.Len() == 0 && !e.ended {
		e.advance()
	}
	if e.out.Len() == 0 {
		return 0, io.EOF
	}
	return e.out.Read(p)
}

// advance draws rows until there is a chunk, or the picture ends.
func (e *encoder) advance() {
	e.out.Reset()
	// What deflate holds back is not in deflated yet, so that a chunk may take more rows than it seems to need.
	for ; e.remaining > 0 && e.deflated.Len() < chunkBytes; e.remaining-- {
		e.draw(e.row)
		e.filter()
		e.deflate.Write(e.filtered) // into memory: cannot fail
		e.row, e.above = e.above, e.row
	}
	if e.ended = e.remaining == 0; e.ended {
		e.deflate.Close()
	}
	e.chunk("IDAT", e.deflated.Bytes())
	e.deflated.Reset()
	if e.ended {
		e.chunk("IEND", nil)
	}
}

// filter takes the difference to the row above (RFC 2083, section 6.4): skies and hills change little from row to
// row, and differences near zero compress well.
func (e *encoder) filter() {
	const up = 2
	e.filtered[0] = up
	to, above := e.filtered[1:], e.above
	for i, v := range e.row {
		to[i] = v - above[i]
	}
}

// chunk writes a chunk to out (RFC 2083, section 3.2). Its checksum covers kind and data, not the length.
func (e *encoder) chunk(kind string, data []byte) {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	head = append(head, kind...)
	sum := crc32.Update(crc32.ChecksumIEEE(head[4:]), crc32.IEEETable, data)
	e.out.Write(head)
	e.out.Write(data)
	e.out.Write(binary.BigEndian.AppendUint32(nil, sum))
}
