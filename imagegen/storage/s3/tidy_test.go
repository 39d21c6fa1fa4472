package s3_test

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
	"github.com/imagegend/imagegend/imagegen/storage/s3"
	"github.com/imagegend/imagegend/imagegen/storage/s3/s3test"
)

// tidied has its files in an object store, and everything else in memory.
type tidied struct {
	*memory.DB
	t      *testing.T
	server *s3test.Server
	files  *s3.Store
}

func (d tidied) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	return d.files.PutImage(ctx, k, r)
}

func (d tidied) OpenImage(ctx context.Context, k imagegen.ImageKey) (io.ReadSeekCloser, error) {
	return d.files.OpenImage(ctx, k)
}

func (d tidied) RemoveImages(ctx context.Context, g imagegen.GenerationID, attempt int,
	keep ...imagegen.ImageID) error {
	return d.files.RemoveImages(ctx, g, attempt, keep...)
}

func (d tidied) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	return d.files.Stage(ctx, id, r)
}

func (d tidied) Keep(ctx context.Context, ids ...imagegen.ReferenceID) error {
	return d.files.Keep(ctx, ids...)
}

func (d tidied) Open(ctx context.Context, id imagegen.ReferenceID) (io.ReadCloser, error) {
	return d.files.Open(ctx, id)
}

func (d tidied) Remove(ctx context.Context, ids ...imagegen.ReferenceID) error {
	return d.files.Remove(ctx, ids...)
}

func (d tidied) Joins(l imagegen.Ledger) bool { return l == imagegen.Ledger(d) || d.DB.Joins(l) }

// Images implements [imagegentest.Keeper].
func (d tidied) Images() (all []imagegen.ImageKey) {
	for _, name := range d.below("images/") {
		parts := strings.Split(name, ".")
		attempt, err := strconv.Atoi(parts[1])
		is.New(d.t).NoErr(err)
		all = append(all, imagegen.ImageKey{Generation: imagegen.GenerationID(parts[0]), Attempt: attempt,
			Image: imagegen.ImageID(parts[2])})
	}
	return all
}

// References implements [imagegentest.Keeper].
func (d tidied) References() (all []imagegen.ReferenceID) {
	for _, name := range d.below("references/") {
		all = append(all, imagegen.ReferenceID(name))
	}
	return all
}

// below lists the names of the objects of a kind.
func (d tidied) below(prefix string) (names []string) {
	for _, key := range d.server.Keys(d.t) {
		if strings.HasPrefix(key, prefix) {
			names = append(names, key[strings.LastIndexByte(key, '/')+1:])
		}
	}
	return names
}

// No object stays behind when its work has ended, and nothing in the local directory.
func TestTidy(t *testing.T) {
	server := s3test.Start(t)
	c := config(t, server, "")
	imagegentest.Tidy(t, func(t *testing.T) imagegentest.Tidied {
		return tidied{memory.New(nil), t, server, open(t, c)}
	})
	left, err := os.ReadDir(c.Dir)
	is.New(t).NoErr(err)
	is.New(t).Equal(len(left), 0)
}
