package storage_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// A write that outlives Close touches nothing that the next process to open the directory has, and none begins.
func TestWriteThatOutlivesClose(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	old := openDir(t, dir, nil)
	failed := make(chan error)
	r, w := io.Pipe()
	go func() { failed <- old.Stage(t.Context(), "ref_old", r) }()
	_, err := io.WriteString(w, "half") // it is under way
	is.NoErr(err)
	is.NoErr(old.Close())

	db := openDir(t, dir, nil)
	written := make(chan error)
	r2, w2 := io.Pipe()
	go func() { written <- db.Stage(t.Context(), "ref_new", r2) }()
	_, err = io.WriteString(w2, "whole")
	is.NoErr(err)
	is.NoErr(w.CloseWithError(errors.New("hung up")))
	is.True(<-failed != nil)
	is.NoErr(w2.Close())
	is.NoErr(<-written)

	err = old.Stage(t.Context(), "ref_late", strings.NewReader("late"))
	is.True(errors.Is(err, imagegen.ErrNotApplied) && errors.Is(err, storage.ErrStopped))
}
