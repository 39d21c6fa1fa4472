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
// Coder, in turn: so it is described once, and cannot be read otherwise than it is written. A form begins
// with its version; a field that is added later comes at the end, behind c.Since of a version of its own, and
// is zero in what was written before.
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
	*c = Coder{}
	form(c, v)
	return c.written
}

// Decode reads what Encode wrote into v, which is zero. It aliases nothing of stored.
func Decode[V any](stored []byte, v *V, form func(*Coder, *V)) error {
	c := new(Coder)
	*c = Coder{rest: stored, reads: true}
	form(c, v)
	err := c.err
	if err == nil && len(c.rest) > 0 {
		err = errShort
	}
	c.rest = nil
	return err
}

// AsWritten reports whether stored is what Encode makes of a value, or made of it when its form had the version of
// stored.
func AsWritten[V any](stored []byte, v *V, form func(*Coder, *V)) bool {
	c := new(Coder)
	version, _ := binary.Uvarint(stored)
	*c = Coder{version: version}
	form(c, v)
	same := bytes.Equal(c.written, stored)
	return same
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

// passed goes on behind n bytes that were read.
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

// length codes how much follows: so many bytes at least.
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

// take reads n bytes, which are not to be kept.
func (c *Coder) take(n int) []byte {
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
	*s = S(c.take(n))
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
		copy(b, c.take(len(b)))
	} else {
		c.written = append(c.written, b...)
	}
}

// Bytes codes a slice; nil and empty are the same.
func Bytes(c *Coder, b *[]byte) {
	n := c.length(len(*b))
	if c.reads {
		*b = bytes.Clone(c.take(n))
	} else {
		c.written = append(c.written, *b...)
	}
}

var latest = time.Unix(0, math.MaxInt64)

// Moment codes a time as nanoseconds since 1970, with 0 for the zero time, and of one beyond the year 2262 the last that
// can be kept. It is read in UTC.
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

// Optional codes what may not be there.
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
