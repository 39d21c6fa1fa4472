package fakeimage

import (
	"encoding/binary"
	"io"
	"math/bits"
)

// webpEncoder is an io.Reader of the lossless WebP of what it draws (RFC 9649, section 3). Its
// prefix codes take eight bits for each byte of a pixel. So the length is known beforehand, as
// the format needs it, and only as much is drawn as is read.
type webpEncoder struct {
	draw      func(row []byte)
	remaining int // rows
	depth     int
	row       []byte
	out       []byte // what is yet to be read, of buffer
	buffer    []byte
	odd       bool   // the length of the chunk is odd, so that one more byte follows it
	bits      uint64 // yet to be written to buffer, the lowest first
	count     int    // of bits; less than 8 between calls of put
}

// newWebP returns one whose pixels take depth bytes: three, or four with their opacity. Each edge has at most 16384
// pixels. The file is a RIFF container with one chunk (RFC 9649, section 2); both begin with their length.
func newWebP(width, height, depth int, draw func(row []byte)) io.Reader {
	w := &webpEncoder{draw: draw, remaining: height, depth: depth, row: make([]byte, depth*width)}
	head := w.head(width, height)
	// One byte of the file for each byte of a pixel: the length needs no pixel to be drawn. At most it is a bit over 1
	// GiB.
	length := uint32(1 + (head+7)/8 + depth*width*height) // the signature, and whole bytes
	const chunk = 8
	w.odd = length%2 == 1
	container := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len("WEBP"))+chunk+length+length%2)
	container = append(container, "WEBPVP8L"...)
	container = binary.LittleEndian.AppendUint32(container, length)
	w.out = append(append(container, 0x2f), w.buffer...)
	return w
}

// head writes what precedes the pixels, and returns how many bits that takes: the header, and one prefix code each
// for green, red, blue, opacity and distance.
func (w *webpEncoder) head(width, height int) int {
	n := 0
	put := func(v uint64, bits int) { n += bits; w.put(v, bits) }
	put(uint64(width-1), 14) // 14 bits limit an edge to 16384
	put(uint64(height-1), 14)
	put(uint64(w.depth-3), 1) // opacity is used
	put(0, 3)                 // version
	put(0, 3)                 // no transform, no colour cache, one group of codes
	const lengths = 24
	eightBits(put, lengths) // green, or a length
	eightBits(put, 0)       // red
	eightBits(put, 0)       // blue
	if w.depth == 4 {
		eightBits(put, 0)
	} else {
		put(1|0xff<<3|1<<2, 11) // one symbol: opaque
	}
	put(1, 4) // one symbol: the distance, of which none is used
	return n
}

// eightBits writes the prefix code in which 256 symbols take eight bits each, and unused ones none. The code word of
// each symbol is its own value.
func eightBits(put func(uint64, int), unused int) {
	put(0, 1)    // an ordinary code, of which follow the lengths
	put(12-4, 4) // as two codes of one bit, for the third and the twelfth of the order: 0 and 8
	for i := range 12 {
		if i == 2 || i == 11 {
			put(1, 3)
		} else {
			put(0, 3)
		}
	}
	put(0, 1) // of all symbols
	for range 256 {
		put(1, 1)
	}
	for range unused {
		put(0, 1)
	}
}

// put writes the lowest n bits of v, the lowest first. v has no others.
func (w *webpEncoder) put(v uint64, n int) {
	w.bits |= v << w.count
	w.count += n
	for ; w.count >= 8; w.count -= 8 {
		w.buffer = append(w.buffer, byte(w.bits))
		w.bits >>= 8
	}
}

// Read implements io.Reader.
func (w *webpEncoder) Read(p []byte) (int, error) {
	if len(w.out) == 0 {
		w.buffer = w.buffer[:0]
		w.advance()
		w.out = w.buffer
	}
	if len(w.out) == 0 {
		return 0, io.EOF
	}
	n := copy(p, w.out)
	w.out = w.out[n:]
	return n, nil
}

// advance draws a row into buffer, in the order of the format: green, red, blue, opacity. After the last row it ends
// the file; from then on it writes nothing.
func (w *webpEncoder) advance() {
	if w.remaining == 0 {
		return
	}
	w.draw(w.row)
	for p := w.row; len(p) > 0; p = p[w.depth:] {
		w.symbol(p[1])
		w.symbol(p[0])
		w.symbol(p[2])
		if w.depth == 4 {
			w.symbol(p[3])
		}
	}
	if w.remaining--; w.remaining == 0 {
		w.flush()
	}
}

// symbol writes the code word of a symbol, which unlike other values has its highest bit first.
func (w *webpEncoder) symbol(b byte) { w.put(uint64(bits.Reverse8(b)), 8) }

// flush fills up the last byte, and the chunk to an even length.
func (w *webpEncoder) flush() {
	w.put(0, (8-w.count)%8)
	if w.odd {
		w.put(0, 8)
	}
}
