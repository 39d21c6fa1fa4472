// Package upstreamtest has what the stand-ins for upstreams have in common.
package upstreamtest

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
)

// PNG returns a black picture of that size. It is put together from blocks that were compressed
// before, and decoded many times faster than one that image/png has written, which matters
// where pictures are large and the race detector runs.
func PNG(width, height int) []byte {
	header := binary.BigEndian.AppendUint32(nil, uint32(width))
	header = binary.BigEndian.AppendUint32(header, uint32(height))
	header = append(header, 8, 0, 0, 0, 0) // eight bits of grey, nothing special

	file := []byte("\x89PNG\r\n\x1a\n")
	file = chunk(file, "IHDR", header)
	file = chunk(file, "IDAT", zeros(height*(1+width)))
	return chunk(file, "IEND", nil)
}

func chunk(to []byte, name string, data []byte) []byte {
	to = binary.BigEndian.AppendUint32(to, uint32(len(data)))
	body := append([]byte(name), data...)
	to = append(to, body...)
	return binary.BigEndian.AppendUint32(to, crc32.ChecksumIEEE(body))
}

const block = 64 << 10 // bytes

// blockOfZeros is a part of a stream that ends with a whole byte, so that it can be repeated.
var blockOfZeros = deflate(block, (*flate.Writer).Flush)

// zeros is n zeros in the format of zlib (RFC 1950).
func zeros(n int) []byte {
	stream := []byte{0x78, 0x01}
	stream = append(stream, bytes.Repeat(blockOfZeros, n/block)...)
	stream = append(stream, deflate(n%block, (*flate.Writer).Close)...)
	const adler = 65521
	return binary.BigEndian.AppendUint32(stream, uint32(n%adler)<<16|1) // the checksum of zeros
}

// deflate is n zeros, compressed (RFC 1951). end is how the stream ends.
func deflate(n int, end func(*flate.Writer) error) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestSpeed) // there is such a level, and a buffer takes all
	w.Write(make([]byte, n))
	end(w)
	return b.Bytes()
}
