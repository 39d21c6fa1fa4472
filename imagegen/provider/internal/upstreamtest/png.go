// Package upstreamtest is what the stand-ins for upstreams have in common.
package upstreamtest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
)

// PNG returns a black picture of that size. It has one bit for each pixel and is made many times
// faster than image/png does it, which matters where pictures are large and the race detector runs.
func PNG(width, height int) []byte {
	header := binary.BigEndian.AppendUint32(nil, uint32(width))
	header = binary.BigEndian.AppendUint32(header, uint32(height))
	header = append(header, 1, 0, 0, 0, 0) // one bit of grey, nothing special

	var pixels bytes.Buffer
	z, _ := zlib.NewWriterLevel(&pixels, zlib.BestSpeed)
	z.Write(make([]byte, height*(1+(width+7)/8)))
	z.Close()

	file := []byte("\x89PNG\r\n\x1a\n")
	file = chunk(file, "IHDR", header)
	file = chunk(file, "IDAT", pixels.Bytes())
	return chunk(file, "IEND", nil)
}

func chunk(to []byte, name string, data []byte) []byte {
	to = binary.BigEndian.AppendUint32(to, uint32(len(data)))
	body := append([]byte(name), data...)
	to = append(to, body...)
	return binary.BigEndian.AppendUint32(to, crc32.ChecksumIEEE(body))
}
