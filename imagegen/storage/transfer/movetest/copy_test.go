package movetest

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/transfer"
	"github.com/imagegend/imagegend/imagegen/storage/transfer/internal/pagesize"
)

// meanwhile calls something when the first image is opened: others are at work while a copy is made.
type meanwhile struct {
	imagegen.ImageStore
	once *sync.Once
	work func()
}

func (m meanwhile) OpenImage(ctx context.Context, k imagegen.ImageKey) (io.ReadSeekCloser, error) {
	m.once.Do(m.work)
	return m.ImageStore.OpenImage(ctx, k)
}

// nodeAtWork is a node on a cluster that is filled.
func nodeAtWork(t *testing.T) (place, sharedHouse) {
	t.Helper()
	is, there := is.New(t), newCluster(t)
	is.NoErr(move(t, filled(t), there))
	node, err := there.open(t)
	is.NoErr(err)
	t.Cleanup(func() { is.NoErr(node.Close()) })
	return there, node.(sharedHouse)
}

// copyOf copies a node's data as they are by now into a directory; work is done while it is copied.
func copyOf(t *testing.T, node sharedHouse, into directory, work func(),
	mortally func(transfer.Database) transfer.Database) error {
	t.Helper()
	is := is.New(t)
	snapshot, err := node.Snapshot(t.Context())
	is.NoErr(err)
	defer snapshot.Close()
	target, closeTarget := into.end(t, true)
	defer closeTarget()
	target.Database = mortally(target.Database)
	images := meanwhile{node.Store, new(sync.Once), work}
	return transfer.Copy(t.Context(), transfer.Moment{Name: "the cluster", Snapshot: snapshot, Images: images,
		Spool: node.Store, Now: node.Generation}, target)
}

func immortal(d transfer.Database) transfer.Database { return d }

// A copy is of one moment, whatever is done meanwhile: granted, made, erased. Nobody waits for it.
func TestCopyOfAMoment(t *testing.T) {
	is, ctx := is.New(t), t.Context()
	defer pagesize.Of(5)()
	there, node := nodeAtWork(t)
	want := whole(t, there)
	into := directory(t.TempDir())
	is.NoErr(copyOf(t, node, into, func() {
		_, err := node.Grant(ctx, imagegen.Grant{User: "alice", Credits: 500})
		is.NoErr(err)
		generate(t, node, 52) // one more that succeeds
		r, err := node.Generation(ctx, id(22))
		is.NoErr(err)
		_, err = node.Update(ctx, r.Fence(), imagegen.EraseChange{})
		is.NoErr(err)
		is.NoErr(node.RemoveImages(ctx, r.ID, r.Attempt))
		_, err = node.Update(ctx, r.Fence(), imagegen.PurgeChange{})
		is.NoErr(err)
	}, immortal))

	got := whole(t, into)
	_, shown := got.Images[id(22)]
	is.True(!shown)
	db, err := into.open(t)
	is.NoErr(err)
	r, err := db.Generation(ctx, id(22))
	is.NoErr(err)
	is.Equal(r.State, imagegen.StateErasing)
	is.Equal(r.Prompt, "")
	is.NoErr(db.Close())

	for _, s := range []*statement{&want, &got} { // all else is as it was
		delete(s.Images, id(22))
		for u, a := range s.Of {
			a.Records = without(a.Records, id(22))
			a.Favourite = without(a.Favourite, id(22))
			s.Of[u] = a
		}
		s.Report = imagegen.AuditReport{}
	}
	is.Equal(cmp.Diff(want, got, cmpopts.EquateEmpty()), "")
}

// A storage that has rows, or takes part in a move, is not a target.
func TestCopyIntoWhatIsNotEmpty(t *testing.T) {
	is := is.New(t)
	defer pagesize.Of(5)()
	_, node := nodeAtWork(t)
	into := directory(t.TempDir())
	is.NoErr(copyOf(t, node, into, func() {}, immortal))
	want := whole(t, into)
	is.True(errors.Is(copyOf(t, node, into, func() {}, immortal), transfer.ErrNotEmpty))
	is.Equal(cmp.Diff(want, whole(t, into), cmpopts.EquateEmpty()), "")
}

func without(all []imagegen.Record, id imagegen.GenerationID) (left []imagegen.Record) {
	for _, r := range all {
		if r.ID != id {
			left = append(left, r)
		}
	}
	return left
}

// An image that is missing, and was not erased, ends the copy.
func TestCopyMissesAnImage(t *testing.T) {
	is := is.New(t)
	_, node := nodeAtWork(t)
	r, err := node.Generation(t.Context(), id(22))
	is.NoErr(err)
	is.NoErr(node.RemoveImages(t.Context(), r.ID, r.Attempt))
	into := directory(t.TempDir())
	is.True(errors.Is(copyOf(t, node, into, func() {}, immortal), imagegen.ErrNotFound))
	refuses(t, into)
}

// A copy that was broken off, at any write, cannot be opened, moved or backed up.
func TestCopyBrokenOff(t *testing.T) {
	is := is.New(t)
	defer pagesize.Of(5)()
	_, node := nodeAtWork(t)
	for life, after := 1, true; ; life, after = life+1, !after {
		into, left := directory(t.TempDir()), life
		err := copyOf(t, node, into, func() {}, func(d transfer.Database) transfer.Database {
			return mortal{d, &left, after}
		})
		if err == nil || usable(t, into) { // it died right behind its last write
			is.True(life > 10)
			return
		}
		is.True(errors.Is(err, errKilled))
		is.True(errors.Is(move(t, into, directory(t.TempDir())), transfer.ErrMoved))
		e, err := storage.OpenTransferEndpoint(string(into), false)
		is.NoErr(err)
		is.True(errors.Is(e.Backup(t.Context(), io.Discard), transfer.ErrMoved))
		is.NoErr(e.Close())
	}
}
