package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
)

var errBroken = errors.New("the image is not whole")

// whole checks that an image has its end, and the checksums that its format has.
func whole(b []byte) error {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return wholePNG(b[8:])
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")) && bytes.HasSuffix(b, []byte("\xff\xd9")):
		return nil
	case len(b) > 12 && bytes.HasPrefix(b, []byte("RIFF")) && binary.LittleEndian.Uint32(b[4:]) == uint32(len(b)-8):
		return nil
	}
	return errBroken
}

// wholePNG goes through the chunks: length, type, data and checksum.
func wholePNG(b []byte) error {
	for len(b) >= 12 {
		n := binary.BigEndian.Uint32(b)
		if uint64(n) > uint64(len(b)-12) {
			return errBroken
		}
		chunk, sum := b[4:8+n], binary.BigEndian.Uint32(b[8+n:])
		if crc32.ChecksumIEEE(chunk) != sum {
			return errBroken
		}
		if string(chunk) == "IEND" {
			return nil
		}
		b = b[12+n:]
	}
	return errBroken
}
