package table

import (
	"bytes"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Audit goes over a table and its indexes as long as goOn returns true. It reports values that cannot be read, that
// are encoded otherwise than they would be written, or that are in the wrong place; values without their
// entries; entries of values that do not exist or stand elsewhere; and, if the table is [Table.Witnessed], that
// something was lost. It calls each with every value that can be read and is in its place, and returns how
// many values it met in all.
func (t *Table[V]) Audit(tx kv.Tx, report func(imagegen.Violation), goOn func() bool, each func(V)) (n int) {
	c := checker[V]{t, tx, report}
	var d digest
	tx.Ascend(t.name, nil, func(key, stored []byte) bool {
		d.Count++
		d.toggle(key, stored)
		if v := c.value(key, stored); v != nil {
			each(*v)
		}
		return goOn()
	})
	for _, i := range t.indexes {
		tx.Ascend(i.name, nil, func(key, value []byte) bool {
			c.entry(i, parse(key), value)
			return goOn()
		})
	}
	if kept := t.digest(tx); t.witnessed && goOn() && kept != d {
		c.violation("digest", []byte(t.name),
			"it has %d values and should have %d, or they are not those that were written", d.Count, kept.Count)
	}
	return int(d.Count)
}

// checker checks one table in one transaction.
type checker[V any] struct {
	table  *Table[V]
	tx     kv.Tx
	report func(imagegen.Violation)
}

func (c checker[V]) violation(rule string, subject []byte, format string, args ...any) {
	c.report(imagegen.Violation{Rule: rule, Subject: printable(subject), Detail: fmt.Sprintf(format, args...)})
}

// value compares a value with its encoding, its key and its entries. It returns nil if the value cannot be read or
// is in the wrong place.
func (c checker[V]) value(key, stored []byte) *V {
	var v V
	if err := kv.Decode(stored, &v, c.table.form); err != nil {
		c.violation("record", key, "it is in %s, and cannot be read: %v", c.table.name, err)
		return nil
	}
	if !kv.AsWritten(stored, &v, c.table.form) {
		c.violation("record", key, "it is in %s, and not as it is written", c.table.name)
	}
	if own := c.table.key(&v); !bytes.Equal(own, key) {
		c.violation("record", key, "%s has under this key what belongs under %q", c.table.name, own)
		return nil
	}
	for _, i := range c.table.indexes {
		if place := i.place(&v); place != nil && c.tx.Get(i.name, entryKey(place, key)) == nil {
			c.violation("index", key, "it is not in %s", i.name)
		}
	}
	return &v
}

// entry checks that the value which an entry names stands at the entry's place. A value that cannot be read was
// reported before.
func (c checker[V]) entry(i *Index[V], e Entry, value []byte) {
	v, err := c.table.Get(c.tx, e.Key)
	switch {
	case err == nil:
		if place := i.place(&v); place == nil || !bytes.Equal(place, e.Under) || !bytes.Equal(value, present) {
			c.violation("index", e.Key, "%s has it where it does not belong", i.name)
		}
	case !c.table.Has(c.tx, e.Key):
		c.violation("index", e.Key, "%s names it, and it does not exist", i.name)
	}
}

// printable shows a key as it is, or in hexadecimal digits if it is not plain ASCII text.
func printable(key []byte) string {
	for _, b := range key {
		if b < ' ' || b > '~' {
			return fmt.Sprintf("%x", key)
		}
	}
	return string(key)
}
