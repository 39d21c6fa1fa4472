package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"slices"
)

// Notes are what a file says beside its pixels, as far as this service needs it.
type Notes struct {
	Orientation Orientation // from EXIF; 0: there is none
	Profile     []byte      // the ICC profile; nil: there is none, or it has more than maxNote bytes
	Origin      bool        // there is a C2PA manifest, or an XMP packet with a DigitalSourceType
}

const maxNote = 256 << 10 // bytes that are kept of a chunk, and of a profile

// notes collects Notes while a structure is followed: each chunk or segment that may hold one goes through begin, add
// and end.
type notes struct {
	Notes
	kind string
	data []byte

	pixels      bool  // they have begun
	progressive bool  // a JPEG keeps the coefficients of all its pixels
	flagged     bool  // a WebP says at its beginning that it has EXIF, which comes behind the pixels
	lossy       bool  // a WebP compresses its pixels as a video does
	kept        int64 // bytes of the chunks of a WebP that Strip keeps, without VP8X
	inflated    bool  // a profile was inflated, which costs more than its bytes
	segments    byte  // of the profile of a JPEG, as far as they have come in order
}

var (
	exifPrefix = []byte("Exif\x00\x00")
	iccPrefix  = []byte("ICC_PROFILE\x00")
	xmpKeyword = []byte("XML:com.adobe.xmp\x00")
	sourceType = []byte("DigitalSourceType")
)

// beginNote begins a chunk of a PNG or a WebP by its name, or a segment of a JPEG as APP1, APP2 or APP11.
func (n *notes) beginNote(kind string) {
	wanted := []string{"eXIf", "EXIF", "APP1", "VP8X", "iCCP", "iTXt", "caBX", "ICCP", "XMP ", "C2PA", "APP2", "APP11"}
	if n.kind = ""; slices.Contains(wanted, kind) {
		n.kind, n.data = kind, n.data[:0]
	}
}

func (n *notes) collect(p []byte) {
	if n.kind != "" {
		n.data = append(n.data, p[:min(len(p), maxNote-len(n.data))]...)
	}
}

// endNote reads what has come since begin.
func (n *notes) endNote() {
	kind := n.kind
	n.kind = ""
	switch kind {
	case "VP8X":
		n.flagged = len(n.data) > 0 && n.data[0]&webpEXIF != 0
	case "eXIf", "EXIF":
		n.exif(bytes.TrimPrefix(n.data, exifPrefix))
	case "APP1":
		if exif, ok := bytes.CutPrefix(n.data, exifPrefix); ok {
			n.exif(exif)
		} else {
			n.origin(n.data)
		}
	case "XMP ":
		n.origin(n.data)
	case "iTXt":
		if packet, ok := bytes.CutPrefix(n.data, xmpKeyword); ok {
			n.origin(packet)
		}
	case "caBX", "C2PA":
		n.Origin = true
	case "APP11":
		n.Origin = n.Origin || bytes.HasPrefix(n.data, []byte("JP")) && bytes.Contains(n.data, []byte("c2pa"))
	case "ICCP":
		n.profile(n.data)
	case "iCCP":
		if !n.pixels && !n.inflated { // a PNG has one, before its pixels
			n.inflated = true
			n.profile(inflated(n.data))
		}
	case "APP2":
		n.segment(n.data)
	}
}

// exif takes the orientation of the first EXIF that has one, where programs look for it: before the pixels, or in a
// WebP that says so.
func (n *notes) exif(tiff []byte) {
	if n.Orientation == 0 && (n.flagged || !n.pixels) {
		n.Orientation = orientationOf(tiff)
	}
}

func (n *notes) origin(xmp []byte) { n.Origin = n.Origin || bytes.Contains(xmp, sourceType) }

// profile takes an ICC profile, which begins with its length.
func (n *notes) profile(icc []byte) {
	if len(icc) < 4 || len(icc) == maxNote {
		return
	}
	n.Profile = bytes.Clone(icc[:min(int64(binary.BigEndian.Uint32(icc)), int64(len(icc)))])
}

// segment takes a part of the profile of a JPEG: its number, how many there are, and the bytes.
func (n *notes) segment(app2 []byte) {
	part, ok := bytes.CutPrefix(app2, iccPrefix)
	if !ok || len(part) < 2 {
		return
	}
	if part[0] != n.segments+1 || len(n.Profile)+len(part) > maxNote {
		n.Profile, n.segments = nil, 0xff // none follows 255: it stays incomplete
		return
	}
	n.segments, n.Profile = part[0], append(n.Profile, part[2:]...)
}

// inflated is the profile in a PNG: a name, a zero, a method, and a zlib stream; nil if it is damaged.
func inflated(iccp []byte) []byte {
	_, stream, ok := bytes.Cut(iccp, []byte{0})
	if !ok || len(stream) == 0 {
		return nil
	}
	z, err := zlib.NewReader(bytes.NewReader(stream[1:]))
	if err != nil {
		return nil
	}
	icc, err := io.ReadAll(io.LimitReader(z, maxNote))
	if err != nil {
		return nil
	}
	return icc
}
