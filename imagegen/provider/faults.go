package provider

import (
	"io"
	"time"
)

// Faults is how a call of the fake provider departs from the ordinary one, which yields every image
// that was asked for. The zero value is the ordinary call.
//
// The fields from Transient on end the call: before its first image or, where Images is set, after
// that many. Where several are set, the first of them counts.
type Faults struct {
	Delay   time.Duration // before the first image, once a call
	Each    time.Duration // before every further image
	Images  int           // how many are yielded, be it fewer or more than asked for; 0: all, or none if the call is ended
	Corrupt bool          // the images end behind their header

	Transient int  // so many calls with the same Key end with ClassUnavailable; those after them do not
	Crash     bool // kills the process, as kill -9 does; only with Fake.AllowCrash
	Panic     bool // panics
	Hang      bool // waits for the context to end
	Refuse    bool // ends with ClassRefused
	Fail      bool // ends with ClassInvalid, which is permanent
}

// count is the number of images to yield when n were asked for.
func (f Faults) count(n int, ended bool) int {
	switch {
	case f.Images > 0:
		return f.Images
	case ended:
		return 0
	}
	return n
}

// corruptBytes hold the header of a PNG, and less than the smallest one has in all.
const corruptBytes = 48

// spoil cuts an image short where it is to be corrupt.
func (f Faults) spoil(image io.Reader) io.Reader {
	if f.Corrupt {
		return io.LimitReader(image, corruptBytes)
	}
	return image
}
