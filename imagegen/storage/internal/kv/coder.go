package kv

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// Coder writes a value, or reads one. The form of a type is a function that passes each of its fields to a
// Coder, in turn. So the encoding is described once, and a value cannot be read otherwise than it was written. A
// form begins with its version. A field that is added later comes at the end, behind c.Since of a new version, and
// is zero in what was written before.
//
// After the first error a Coder that reads leaves all further fields zero; Decode returns that error.
//
// Integers are varints, strings and slices have their length before them.
type Coder struct {
	reads   bool
	written []byte
	rest    []byte // of what is read
	version uint64
	err     error // with it all that is read is zero
}

// Encode writes a value in a form.
func Encode[V any](v *V, form func(*Coder, *V)) []byte {
	c := new(Coder)
	form(c, v)
	return c.written
}

// Decode reads what Encode wrote into v, which is zero. It aliases nothing of stored.
func Decode[V any](stored []byte, v *V, form func(*Coder, *V)) error {
	c := &Coder{rest: stored, reads: true}
	form(c, v)
	if c.err == nil && len(c.rest) > 0 {
		return errShort
	}
	return c.err
}

// AsWritten reports whether stored is what Encode makes of a value, or made of it when its form had the version of
// stored.
func AsWritten[V any](stored []byte, v *V, form func(*Coder, *V)) bool {
	version, _ := binary.Uvarint(stored)
	c := &Coder{version: version}
	form(c, v)
	return bytes.Equal(c.written, stored)
}

// Version says which version of its form a value is written in. One of a later version cannot be read.
func (c *Coder) Version(v uint64) {
	if !c.reads {
		c.version = cmp.Or(c.version, v)
		c.written = binary.AppendUvarint(c.written, c.version)
		return
	}
	version, n := binary.Uvarint(c.rest)
	c.passed(n)
	if c.version = version; c.err == nil && (version == 0 || version > v) {
		c.err = fmt.Errorf("kv: it has form %d, of a later version; this one knows %d", version, v)
	}
}

// Since reports whether a value has the fields that a version added.
func (c *Coder) Since(version uint64) bool { return c.version >= version }

var errShort = errors.New("kv: a stored value is cut short or has an unknown form")

// passed moves on behind n bytes that were read; n ≤ 0 is what the varints of encoding/binary return for an error.
func (c *Coder) passed(n int) bool {
	if c.err == nil && (n <= 0 || n > len(c.rest)) {
		c.err = errShort
	}
	if c.err != nil {
		return false
	}
	c.rest = c.rest[n:]
	return true
}

// length codes a length. Reading, it refuses one that is greater than the number of bytes left, so that damage
// cannot make anybody allocate more than that many elements.
func (c *Coder) length(n int) int {
	if !c.reads {
		c.written = binary.AppendUvarint(c.written, uint64(n))
		return n
	}
	long, size := binary.Uvarint(c.rest)
	if c.passed(size) && long > uint64(len(c.rest)) {
		c.err = errShort
	}
	if c.err != nil {
		return 0
	}
	return int(long)
}

// takeBytes reads n bytes. They belong to the stored value, so the caller copies what it keeps.
func (c *Coder) takeBytes(n int) []byte {
	b := c.rest
	if n == 0 || !c.passed(n) {
		return nil
	}
	return b[:n]
}

// Text codes a string.
func Text[S ~string](c *Coder, s *S) {
	n := c.length(len(*s))
	if !c.reads {
		c.written = append(c.written, *s...)
		return
	}
	*s = S(c.takeBytes(n))
}

// Number codes an integer.
func Number[N ~int | ~int64 | ~uint8 | ~uint32 | ~uint64](c *Coder, n *N) {
	if !c.reads {
		c.written = binary.AppendVarint(c.written, int64(*n))
		return
	}
	if v, size := binary.Varint(c.rest); c.passed(size) {
		*n = N(v)
	}
}

// Flag codes a truth value.
func Flag(c *Coder, b *bool) {
	one := [1]byte{}
	if *b {
		one[0] = 1
	}
	Fixed(c, one[:])
	*b = one[0] == 1
}

// Fixed codes an array, without its length.
func Fixed(c *Coder, b []byte) {
	if c.reads {
		copy(b, c.takeBytes(len(b)))
	} else {
		c.written = append(c.written, b...)
	}
}

// Bytes codes a slice; nil and empty are the same.
func Bytes(c *Coder, b *[]byte) {
	n := c.length(len(*b))
	if c.reads {
		*b = bytes.Clone(c.takeBytes(n))
	} else {
		c.written = append(c.written, *b...)
	}
}

var latest = time.Unix(0, math.MaxInt64)

// Moment codes a time as nanoseconds since 1970, in UTC. The zero time is coded as 0, and a time beyond the year 2262
// as the last one that fits.
func Moment(c *Coder, t *time.Time) {
	n := int64(0)
	switch {
	case c.reads || t.IsZero():
	case t.After(latest):
		n = math.MaxInt64
	default:
		n = t.UnixNano()
	}
	if Number(c, &n); c.reads && n != 0 {
		*t = time.Unix(0, n).UTC()
	}
}

// List codes a list whose elements take at least one byte each; nil and empty are the same.
func List[T any](c *Coder, list *[]T, form func(*Coder, *T)) {
	if n := c.length(len(*list)); c.reads && n > 0 {
		*list = make([]T, n)
	}
	for i := range *list {
		form(c, &(*list)[i])
	}
}

// Optional codes a pointer that may be nil.
func Optional[T any](c *Coder, v **T, form func(*Coder, *T)) {
	there := *v != nil
	if Flag(c, &there); !there {
		return
	}
	if c.reads {
		*v = new(T)
	}
	form(c, *v)
}
