package main

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
)

// encodeWebP writes noise of 16 values in each channel as lossless WebP (RFC 9649), each in a code of four bits.
func encodeWebP(w io.Writer, edge int) error {
	var b bits
	b.put(0x2f, 8)            // signature
	b.put(uint64(edge-1), 14) // width
	b.put(uint64(edge-1), 14) // height
	b.put(0, 1+3)             // no alpha, version 0
	b.put(0, 1+1+1)           // no transform, no colour cache, one group of codes
	for range 3 {             // green, red, blue
		b.putSixteen()
	}
	b.putOne(0xff) // alpha
	b.putOne(0)    // distance, of which there is none
	noise := make([]byte, 3*edge*edge)
	rand.NewChaCha8([32]byte{2}).Read(noise)
	for i := 0; i < len(noise); i += 3 {
		b.put(uint64(noise[i]&0xf)|uint64(noise[i+1]&0xf)<<4|uint64(noise[i+2]&0xf)<<8, 12)
	}
	_, err := w.Write(riff(b.bytes()))
	return err
}

// riff is the container of a lossless image.
func riff(data []byte) []byte {
	padded := len(data) + len(data)%2
	out := append([]byte("RIFF"), make([]byte, 4)...)
	binary.LittleEndian.PutUint32(out[4:], uint32(12+padded))
	out = append(out, "WEBPVP8L"...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(data)))
	return append(append(out, data...), make([]byte, padded-len(data))...)
}

// bits are written from the lowest on.
type bits struct {
	out  []byte
	last uint64
	n    int // bits of last
}

func (b *bits) put(v uint64, n int) {
	b.last |= v << b.n
	for b.n += n; b.n >= 8; b.n -= 8 {
		b.out = append(b.out, byte(b.last))
		b.last >>= 8
	}
}

func (b *bits) bytes() []byte { return append(b.out, byte(b.last)) }

// putSixteen says that the values up to 15 have codes of four bits, and the others none.
func (b *bits) putSixteen() {
	const places = 10         // of the lengths 17, 18, 0 to 5, 16, 6: so they stand
	b.put(0, 1)               // a code of many symbols
	b.put(places-4, 4)        // how many code lengths have a code
	b.put(1<<(3*6), 3*places) // of one bit the length 4, the seventh
	b.put(1, 1)               // not all symbols follow,
	b.put(1, 3)               // but a number of four bits:
	b.put(16-2, 4)            // sixteen. Each has the only length, whose code is empty
}

// putOne says that a code has a single symbol.
func (b *bits) putOne(symbol uint64) {
	b.put(1, 1) // a simple code
	b.put(0, 1) // of one symbol,
	b.put(1, 1) // that takes eight bits
	b.put(symbol, 8)
}
