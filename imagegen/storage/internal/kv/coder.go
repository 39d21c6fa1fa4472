package kv

import (
	"bytes"
	"cmp"
	"fmt"
	"sync"
	"time"
)

// Coder writes a value, or reads one. The form of a type is a function that passes each of its fields to a
// Coder, in turn: so it is described once, and cannot be read otherwise than it is written. A form begins
// with its version; a field that is added later comes at the end, behind c.Since of a version of its own, and
// is zero in what was written before.
type Coder struct {
	w       Writer
	r       Reader
	reads   bool
	version uint64
	err     error
}

// coders are used again: whatever a form is passed is on the heap.
var coders = sync.Pool{New: func() any { return new(Coder) }}

// Encode writes a value in a form.
func Encode[V any](v *V, form func(*Coder, *V)) []byte {
	c := coders.Get().(*Coder)
	*c = Coder{w: c.w[:0]}
	form(c, v)
	stored := bytes.Clone(c.w)
	coders.Put(c)
	return stored
}

// Decode reads what Encode wrote into v, which is zero. It aliases nothing of stored.
func Decode[V any](stored []byte, v *V, form func(*Coder, *V)) error {
	c := coders.Get().(*Coder)
	*c = Coder{w: c.w, r: Reader{rest: stored}, reads: true}
	form(c, v)
	err := cmp.Or(c.err, c.r.Err())
	c.r = Reader{} // which holds on to stored
	coders.Put(c)
	return err
}

// AsWritten reports whether stored is what Encode makes of a value, or made of it when its form had the version of
// stored.
func AsWritten[V any](stored []byte, v *V, form func(*Coder, *V)) bool {
	c := coders.Get().(*Coder)
	*c = Coder{w: c.w[:0], version: (&Reader{rest: stored}).Uint()}
	form(c, v)
	same := bytes.Equal(c.w, stored)
	coders.Put(c)
	return same
}

// Version says which version of its form a value is written in. One of a later version cannot be read.
func (c *Coder) Version(v uint64) {
	if !c.reads {
		c.version = cmp.Or(c.version, v)
		c.w.Uint(c.version)
		return
	}
	if c.version = c.r.Uint(); c.version == 0 || c.version > v {
		c.err = fmt.Errorf("kv: it has form %d, of a later version; this one knows %d", c.version, v)
	}
}

// Since reports whether a value has the fields that a version added.
func (c *Coder) Since(version uint64) bool { return c.version >= version }

// Text codes a string.
func Text[S ~string](c *Coder, s *S) {
	if c.reads {
		*s = S(c.r.String())
	} else {
		c.w.String(string(*s))
	}
}

// Number codes an integer.
func Number[N ~int | ~int64 | ~uint8 | ~uint32 | ~uint64](c *Coder, n *N) {
	if c.reads {
		*n = N(c.r.Int())
	} else {
		c.w.Int(int64(*n))
	}
}

// Flag codes a truth value.
func Flag(c *Coder, b *bool) {
	if c.reads {
		*b = c.r.Bool()
	} else {
		c.w.Bool(*b)
	}
}

// Fixed codes an array, without its length.
func Fixed(c *Coder, b []byte) {
	if c.reads {
		c.r.Fixed(b)
	} else {
		c.w.Fixed(b)
	}
}

// Bytes codes a slice; nil and empty are the same.
func Bytes(c *Coder, b *[]byte) {
	if c.reads {
		*b = c.r.Bytes()
	} else {
		c.w.Bytes(*b)
	}
}

// Moment codes a time, which is read in UTC.
func Moment(c *Coder, t *time.Time) {
	if c.reads {
		*t = c.r.Time()
	} else {
		c.w.Time(*t)
	}
}

// List codes a list whose elements take at least one byte each; nil and empty are the same.
func List[T any](c *Coder, list *[]T, form func(*Coder, *T)) {
	if !c.reads {
		c.w.Uint(uint64(len(*list)))
	} else if n := c.r.Count(); n > 0 {
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
