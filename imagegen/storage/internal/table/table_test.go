package table_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv/kvtest"
	"github.com/imagegend/imagegend/imagegen/storage/internal/table"
)

type book struct {
	Title, Author string
	Lent          bool
}

func code(c *kv.Coder, b *book) {
	c.Version(1)
	kv.Text(c, &b.Title)
	kv.Text(c, &b.Author)
	kv.Flag(c, &b.Lent)
}

var (
	books    = table.New("books", func(b *book) []byte { return []byte(b.Title) }, code).Witnessed()
	byAuthor = books.Index("authors", func(b *book) []byte { return kv.Key(b.Author) })
	lent     = books.Index("lent", func(b *book) []byte {
		if !b.Lent {
			return nil
		}
		return []byte{}
	})
)

// library is a database with some books.
func library(t *testing.T) kv.DB {
	t.Helper()
	db := kvtest.New()
	change(t, db, func(tx kv.Tx) error {
		for _, b := range []book{{"Emma", "Austen", false}, {"Persuasion", "Austen", true},
			{"Middlemarch", "Eliot", true}, {"Ada", "Aust", false}} {
			books.Put(tx, nil, &b)
		}
		return nil
	})
	return db
}

func change(t *testing.T, db kv.DB, f func(kv.Tx) error) {
	t.Helper()
	is.New(t).NoErr(db.Update(t.Context(), f))
}

func view(t *testing.T, db kv.DB, f func(kv.Tx)) {
	t.Helper()
	is.New(t).NoErr(db.View(t.Context(), func(tx kv.Tx) error { f(tx); return nil }))
}

func text(keys [][]byte) string { return string(bytes.Join(keys, []byte(" "))) }

func TestValues(t *testing.T) {
	is := is.New(t)
	view(t, library(t), func(tx kv.Tx) {
		b, err := books.Get(tx, []byte("Emma"))
		is.NoErr(err)
		is.Equal(b, book{Title: "Emma", Author: "Austen"})
		_, err = books.Get(tx, []byte("Em"))
		is.True(errors.Is(err, imagegen.ErrNotFound))
		is.True(books.Has(tx, []byte("Emma")))
		is.True(!books.Has(tx, []byte("Em")))
		var titles []string
		for b, err := range books.All(tx) {
			is.NoErr(err)
			titles = append(titles, b.Title)
		}
		is.Equal(titles, []string{"Ada", "Emma", "Middlemarch", "Persuasion"})
	})
}

func TestIndexes(t *testing.T) {
	is := is.New(t)
	view(t, library(t), func(tx kv.Tx) {
		is.Equal(text(slices.Collect(byAuthor.Keys(tx, kv.Key("Austen")))), "Emma Persuasion")
		is.Equal(text(slices.Collect(byAuthor.Down(tx, kv.Key("Austen"), nil))), "Persuasion Emma")
		is.Equal(text(slices.Collect(byAuthor.Down(tx, kv.Key("Austen"), []byte("Persuasion")))), "Emma")
		is.Equal(text(slices.Collect(byAuthor.Down(tx, kv.Key("Austen"), []byte("Lost")))), "Emma")
		is.Equal(text(slices.Collect(byAuthor.Down(tx, kv.Key("Nobody"), nil))), "")
		is.Equal(text(slices.Collect(lent.Keys(tx, nil))), "Middlemarch Persuasion")
		is.Equal(text([][]byte{byAuthor.First(tx, kv.Key("Aust"))}), "Ada")
		is.Equal(byAuthor.First(tx, kv.Key("Nobody")), nil)
		b, err := byAuthor.Find(tx, kv.Key("Eliot"))
		is.NoErr(err)
		is.Equal(b.Title, "Middlemarch")
		_, err = byAuthor.Find(tx, kv.Key("Nobody"))
		is.True(errors.Is(err, imagegen.ErrNotFound))
		var authors []string
		for e := range byAuthor.Entries(tx, kv.Key("Austen")) {
			authors = append(authors, strings.TrimSuffix(string(e.Under), "\x00"))
		}
		is.Equal(authors, []string{"Austen", "Austen", "Eliot"})
		all, err := lent.Values(tx, lent.Keys(tx, nil))
		is.NoErr(err)
		is.Equal(len(all), 2)
	})
}

// An index follows its values.
func TestIndexesFollow(t *testing.T) {
	is, db := is.New(t), library(t)
	change(t, db, func(tx kv.Tx) error {
		from, err := books.Get(tx, []byte("Persuasion"))
		to := from
		to.Lent, to.Author = false, "Jane Austen"
		emma, err2 := books.Get(tx, []byte("Emma"))
		books.Remove(tx, &emma)
		books.Put(tx, &from, &to)
		return errors.Join(err, err2)
	})
	view(t, db, func(tx kv.Tx) {
		is.Equal(byAuthor.First(tx, kv.Key("Austen")), nil)
		is.Equal(text(slices.Collect(byAuthor.Keys(tx, kv.Key("Jane Austen")))), "Persuasion")
		is.Equal(text(slices.Collect(lent.Keys(tx, nil))), "Middlemarch")
		is.Equal(check(tx), "")
	})
}

// check lists the rules that are broken.
func check(tx kv.Tx) string {
	var rules []string
	books.Audit(tx, func(v imagegen.Violation) { rules = append(rules, v.Rule+" "+v.Subject) }, func() bool {
		return true
	}, func(book) {})
	slices.Sort(rules)
	return strings.Join(rules, ", ")
}

// Every defect that is planted is found.
func TestCheckFinds(t *testing.T) {
	emma := func(tx kv.Tx) []byte { return slices.Clone(tx.Get("books", []byte("Emma"))) }
	entry := func(parts ...any) []byte { return kv.Key(append(parts, byte(0), byte(4))...) }
	for name, c := range map[string]struct {
		plant func(tx kv.Tx)
		want  string
	}{
		"nothing":    {func(kv.Tx) {}, ""},
		"value lost": {func(tx kv.Tx) { tx.Delete("books", []byte("Emma")) }, "digest books, index Emma"},
		"value cut": {func(tx kv.Tx) { v := emma(tx); tx.Put("books", []byte("Emma"), v[:len(v)-1]) },
			"digest books, record Emma"},
		"value changed": {func(tx kv.Tx) {
			tx.Put("books", []byte("Emma"), bytes.Replace(emma(tx), []byte("Austen"), []byte("Austin"), 1))
		}, "digest books, index Emma, index Emma"},
		"value put in": {func(tx kv.Tx) { tx.Put("books", []byte("Emma 2"), emma(tx)) },
			"digest books, record Emma 2"},
		"entry lost": {func(tx kv.Tx) { tx.Delete("books.authors", entry("Austen", []byte("Emma"))) },
			"index Emma"},
		"entry too many":     {func(tx kv.Tx) { tx.Put("books.lent", entry([]byte("Emma")), []byte{1}) }, "index Emma"},
		"entry of none":      {func(tx kv.Tx) { tx.Put("books.lent", entry([]byte("Lost")), []byte{1}) }, "index Lost"},
		"entry that is none": {func(tx kv.Tx) { tx.Put("books.lent", []byte{255, 255}, []byte{1}) }, "index "},
	} {
		t.Run(name, func(t *testing.T) {
			is, db := is.New(t), library(t)
			change(t, db, func(tx kv.Tx) error { c.plant(tx); return nil })
			view(t, db, func(tx kv.Tx) { is.Equal(cmp.Diff(c.want, check(tx)), "") })
		})
	}
}

// A value that is damaged, or one that an index names and that is lost, is an error and never a panic, nor
// taken for one that was never there.
func TestDamage(t *testing.T) {
	is, db := is.New(t), library(t)
	change(t, db, func(tx kv.Tx) error {
		tx.Put("books", []byte("Emma"), []byte{0xff})
		tx.Delete("books", []byte("Persuasion"))
		return nil
	})
	view(t, db, func(tx kv.Tx) {
		_, err := books.Get(tx, []byte("Emma"))
		_, damaged := errors.AsType[kv.Damage](err)
		is.True(damaged)
		_, err = lent.Get(tx, []byte("Persuasion"))
		is.True(err != nil && !errors.Is(err, imagegen.ErrNotFound))
		_, err = byAuthor.Values(tx, byAuthor.Keys(tx, kv.Key("Austen")))
		is.True(err != nil)
	})
}
