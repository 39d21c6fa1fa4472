package picture

import (
	"bytes"
	"fmt"
)

// jpegSegments follows a JPEG (ITU-T T.81, annex B): markers, most of which begin a segment with
// its length, and behind each start of a scan the coded pixels, up to the next marker. The
// format has no checksums, so this finds an image that was cut off, and nothing within the
// coded pixels.
type jpegSegments struct {
	notes  *notes
	at     jpegPart
	field  field
	marker byte
	left   int  // bytes of the segment that are yet to come
	frame  bool // a frame header has come: the size is known
	scans  int  // that have come; after the first there are pixels
}

// maxScans bounds the scans of a JPEG. Programs write about ten into a progressive one. Each costs a decoder a walk
// over all pixels, however few bytes it has.
const maxScans = 100

// jpegPart is where in a JPEG the next byte belongs.
type jpegPart int

const (
	jpegBegin  jpegPart = iota
	jpegPrefix          // up to 0xff before a marker
	jpegMarker          // behind 0xff
	jpegLength
	jpegSegment
	jpegCoded       // pixels
	jpegCodedPrefix // behind 0xff among pixels
)

// Markers.
const (
	jpegSOF2 = 0xc2 // the frame of a progressive JPEG
	jpegSOI  = 0xd8
	jpegEOI  = 0xd9
	jpegSOS  = 0xda
	jpegTEM  = 0x01
	jpegAPP  = 0xe0 // the first of sixteen
	jpegCOM  = 0xfe
)

// step consumes one byte of p, which is not empty, or as much as it holds of the current part.
func (s *jpegSegments) step(p []byte) (rest []byte, ended bool, err error) {
	switch s.at {
	case jpegBegin:
		return s.beginSegment(p)
	case jpegPrefix:
		return s.upTo(p, jpegMarker), false, nil // some cameras leave bytes there, which decoders skip
	case jpegMarker:
		ended, err = s.mark(p[0])
	case jpegLength:
		return s.length(p)
	case jpegSegment:
		return s.segment(p), false, nil
	case jpegCoded:
		return s.upTo(p, jpegCodedPrefix), false, nil
	case jpegCodedPrefix:
		ended, err = s.codedPrefix(p[0])
	}
	return p[1:], ended, err
}

func (s *jpegSegments) beginSegment(p []byte) ([]byte, bool, error) {
	rest, done := s.field.fillFrom(p, 2)
	if !done {
		return rest, false, nil
	}
	if s.field.bytes[0] != 0xff || s.field.bytes[1] != jpegSOI {
		return rest, false, broken("it does not begin as a JPEG does")
	}
	s.at = jpegPrefix
	return rest, false, nil
}

// mark takes the byte behind 0xff. Further 0xff bytes are fill; EOI ends the image.
func (s *jpegSegments) mark(m byte) (ended bool, err error) {
	switch {
	case m == 0xff: // a fill byte
	case m == jpegEOI:
		if !s.frame || s.scans == 0 {
			return false, broken("it ends without pixels")
		}
		return true, nil
	case m == jpegSOI:
		return false, broken("the marker %#x is not allowed here", m)
	case !opens(m):
		s.at = jpegPrefix
	default:
		s.marker, s.at = m, jpegLength
	}
	return false, nil
}

// opens reports whether a byte behind 0xff is a marker with a segment, or EOI.
func opens(m byte) bool { return m != 0 && m != 0xff && m != jpegTEM && !isRestart(m) }

func isRestart(m byte) bool { return m >= 0xd0 && m <= 0xd7 }

// isFrame reports whether a marker begins a frame: SOF0 to SOF15, without DHT, JPG and DAC.
func isFrame(m byte) bool { return m >= 0xc0 && m <= 0xcf && m != 0xc4 && m != 0xc8 && m != 0xcc }

func (s *jpegSegments) length(p []byte) ([]byte, bool, error) {
	rest, done := s.field.fillFrom(p, 2)
	if !done {
		return rest, false, nil
	}
	s.left = int(s.field.bytes[0])<<8 + int(s.field.bytes[1]) - 2 // it counts itself
	switch {
	case s.left < 0:
		return rest, false, broken("a segment claims to be shorter than its length")
	case s.marker == jpegSOS && !s.frame:
		return rest, false, broken("its pixels come before its size")
	}
	s.frame = s.frame || isFrame(s.marker)
	if s.marker == jpegSOS {
		if s.scans++; s.scans > maxScans {
			return rest, false, broken("it has more than %d scans", maxScans)
		}
	}
	s.notes.pixels, s.notes.progressive = s.scans > 0, s.notes.progressive || s.marker == jpegSOF2
	s.notes.beginNote(fmt.Sprintf("APP%d", int(s.marker)-jpegAPP))
	s.at = jpegSegment
	if s.left == 0 {
		s.at = s.behindSegment()
	}
	return rest, false, nil
}

func (s *jpegSegments) segment(p []byte) (rest []byte) {
	n := min(len(p), s.left)
	s.notes.collect(p[:n])
	if s.left -= n; s.left == 0 {
		s.notes.endNote()
		s.at = s.behindSegment()
	}
	return p[n:]
}

// behindSegment is what follows a segment: coded pixels after the start of a scan, else a marker.
func (s *jpegSegments) behindSegment() jpegPart {
	if s.marker == jpegSOS {
		return jpegCoded
	}
	return jpegPrefix
}

// upTo skips bytes, up to and including the next 0xff, behind which comes another part.
func (s *jpegSegments) upTo(p []byte, behind jpegPart) (rest []byte) {
	i := bytes.IndexByte(p, 0xff)
	if i < 0 {
		return nil
	}
	s.at = behind
	return p[i+1:]
}

// codedPrefix takes the byte behind 0xff among coded pixels. 0 means that the 0xff was one of
// them; restart markers belong to the scan, and any other marker ends it.
func (s *jpegSegments) codedPrefix(m byte) (ended bool, err error) {
	switch {
	case m == 0xff:
		return false, nil
	case m == 0 || isRestart(m):
		s.at = jpegCoded
		return false, nil
	}
	return s.mark(m)
}
