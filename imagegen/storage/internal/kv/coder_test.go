package kv_test

import (
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

type note struct{ Text, Author string }

func first(c *kv.Coder, n *note) {
	c.Version(1)
	kv.Text(c, &n.Text)
}

func second(c *kv.Coder, n *note) {
	c.Version(2)
	kv.Text(c, &n.Text)
	if c.Since(2) {
		kv.Text(c, &n.Author)
	}
}

// A field that a version added is zero in what was written before, and what a later one wrote is an error.
func TestVersionsOfAForm(t *testing.T) {
	is := is.New(t)
	old, latest := kv.Encode(&note{Text: "a fox"}, first), kv.Encode(&note{"a fox", "alice"}, second)
	var n note
	is.NoErr(kv.Decode(old, &n, second))
	is.Equal(n, note{Text: "a fox"})
	is.NoErr(kv.Decode(latest, &n, second))
	is.Equal(n, note{"a fox", "alice"})
	is.True(kv.AsWritten(old, &note{Text: "a fox"}, second)) // as it was when it was written
	is.True(kv.AsWritten(latest, &note{"a fox", "alice"}, second))
	is.True(!kv.AsWritten(old, &note{Text: "a hare"}, second))
	is.True(!kv.AsWritten(latest, &note{"a fox", "bob"}, second))
	is.True(!kv.AsWritten(append([]byte{0}, old[1:]...), &note{Text: "a fox"}, second))
	is.True(kv.Decode(latest, new(note), first) != nil)
	is.True(kv.Decode(append([]byte{0}, old[1:]...), new(note), second) != nil) // a version that nobody wrote
	is.True(kv.Decode(append(latest, 0), new(note), second) != nil)
}
