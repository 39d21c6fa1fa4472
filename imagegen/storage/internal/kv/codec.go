package kv

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// Writer encodes values, one field after the other. Integers are varints, strings and bytes have
// their length before them, times are nanoseconds since 1970 with 0 for the zero time.
type Writer []byte

// Uint appends an unsigned integer.
func (w *Writer) Uint(v uint64) { *w = binary.AppendUvarint(*w, v) }

// Int appends an integer.
func (w *Writer) Int(v int64) { *w = binary.AppendVarint(*w, v) }

// Bool appends a truth value.
func (w *Writer) Bool(v bool) {
	if v {
		*w = append(*w, 1)
	} else {
		*w = append(*w, 0)
	}
}

// String appends a string.
func (w *Writer) String(v string) {
	w.Uint(uint64(len(v)))
	*w = append(*w, v...)
}

// Bytes appends a slice; nil and empty are the same.
func (w *Writer) Bytes(v []byte) {
	w.Uint(uint64(len(v)))
	*w = append(*w, v...)
}

// Fixed appends bytes without their length.
func (w *Writer) Fixed(v []byte) { *w = append(*w, v...) }

// Time appends a time; of one beyond the year 2262 the last that can be kept.
func (w *Writer) Time(t time.Time) {
	switch {
	case t.IsZero():
		w.Int(0)
	case t.After(latest):
		w.Int(math.MaxInt64)
	default:
		w.Int(t.UnixNano())
	}
}

var latest = time.Unix(0, math.MaxInt64)

var errShort = errors.New("kv: a stored value is cut short or has an unknown form")

// Reader decodes what a Writer wrote. The first field that does not fit sets Err, and everything
// after it is zero.
type Reader struct {
	rest []byte
	text string // what was left when the first string was read: strings are cut out of one copy
	err  error
}

// NewReader reads b, which it does not change. What it returns does not alias b.
func NewReader(b []byte) *Reader { return &Reader{rest: b} }

// Err returns an error unless everything fitted and nothing is left.
func (r *Reader) Err() error {
	if r.err == nil && len(r.rest) > 0 {
		return errShort
	}
	return r.err
}

func (r *Reader) take(n uint64) []byte {
	if r.err != nil || n > uint64(len(r.rest)) {
		r.err = errShort
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// Uint reads an unsigned integer.
func (r *Reader) Uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if r.err != nil || n <= 0 {
		r.err = errShort
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// Int reads an integer.
func (r *Reader) Int() int64 {
	v, n := binary.Varint(r.rest)
	if r.err != nil || n <= 0 {
		r.err = errShort
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// Bool reads a truth value.
func (r *Reader) Bool() bool {
	b := r.take(1)
	return len(b) == 1 && b[0] == 1
}

// String reads a string.
func (r *Reader) String() string {
	n := r.Uint()
	if r.text == "" {
		r.text = string(r.rest)
	}
	s := r.take(n)
	end := len(r.text) - len(r.rest)
	return r.text[end-len(s) : end]
}

// Bytes reads a slice; nil if it is empty.
func (r *Reader) Bytes() []byte { return append([]byte(nil), r.take(r.Uint())...) }

// Fixed fills b.
func (r *Reader) Fixed(b []byte) { copy(b, r.take(uint64(len(b)))) }

// Time reads a time, in UTC.
func (r *Reader) Time() time.Time {
	n := r.Int()
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// Count reads the length of a list whose elements take at least one byte each.
func (r *Reader) Count() int {
	n := r.Uint()
	if n > uint64(len(r.rest)) {
		r.err = errShort
		return 0
	}
	return int(n)
}

// Key joins parts into a key that sorts part by part. Strings end with NUL, and so must not hold
// one; integers are big-endian.
func Key(parts ...any) []byte {
	k := make([]byte, 0, 64)
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			k = append(append(k, p...), 0)
		case uint64:
			k = binary.BigEndian.AppendUint64(k, p)
		case byte:
			k = append(k, p)
		case []byte:
			k = append(k, p...)
		default:
			panic("kv: no key can be made of this type")
		}
	}
	return k
}

// TimeKey orders times in a key: the zero time, which means never, comes last.
func TimeKey(t time.Time) uint64 {
	if t.IsZero() {
		return ^uint64(0)
	}
	return uint64(t.UnixNano()) ^ 1<<63
}
