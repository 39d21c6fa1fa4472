package storage_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// A generation that succeeds at once takes two commits; one that cannot be paid for takes none.
func TestCommitBudget(t *testing.T) {
	w := work(t, open(t, nil))
	commits := 0
	w.SetCommit(func(commit func() error) error { commits++; return commit() })
	w.fund(1)
	w.is.Equal(commits, 1)
	commits = 0
	r := w.begin(1)
	w.is.Equal(commits, 1)
	w.finish(r, pixels(1))
	w.is.Equal(commits, 2)
	_, err := w.CreateCharged(t.Context(), newRecord(2), time.Minute)
	w.is.True(errors.Is(err, imagegen.ErrInsufficientCredits))
	w.is.Equal(commits, 2)
}

// filesUnder lists the files of a directory, but not the database.
func filesUnder(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if name := strings.TrimPrefix(path, dir+"/"); err == nil && info.Mode().IsRegular() &&
			!slices.Contains([]string{"imagegen.db", "ballast", "running"}, name) {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestNothingIsLeftOfAReaderThatFails(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	db := openDir(t, dir, nil)
	broken := errors.New("the connection was reset")
	half := func() io.Reader {
		return io.MultiReader(bytes.NewReader(make([]byte, 200_000)), iotest.ErrReader(broken))
	}
	r := newRecord(1)
	is.True(errors.Is(db.PutImage(t.Context(), r.ImageKey(stored(r, nil)), half()), broken))
	is.True(errors.Is(db.Stage(t.Context(), "ref_1", half()), broken))
	is.Equal(len(filesUnder(t, dir)), 0)
}

func TestNamesStayInside(t *testing.T) {
	is, parent := is.New(t), t.TempDir()
	dir := filepath.Join(parent, "data")
	db := openDir(t, dir, nil)
	for _, name := range []string{"", ".", "..", "../../x", "a/b", `a\b`, "a\x00b", strings.Repeat("a", 101), "ü"} {
		k := imagegen.ImageKey{Generation: imagegen.GenerationID(name), Image: "image_1"}
		is.True(imagegen.Definite(db.PutImage(t.Context(), k, strings.NewReader("x"))))
		is.NoErr(db.RemoveImages(t.Context(), k.Generation, 0))
		k = imagegen.ImageKey{Generation: "gen_1", Image: imagegen.ImageID(name)}
		is.True(imagegen.Definite(db.PutImage(t.Context(), k, strings.NewReader("x"))))
		_, err := db.OpenImage(t.Context(), k)
		is.True(errors.Is(err, imagegen.ErrNotFound))
		is.True(imagegen.Definite(db.Stage(t.Context(), imagegen.ReferenceID(name), strings.NewReader("x"))))
		_, err = db.Open(t.Context(), imagegen.ReferenceID(name))
		is.True(errors.Is(err, imagegen.ErrNotFound))
		is.NoErr(db.Remove(t.Context(), imagegen.ReferenceID(name)))
	}
	is.Equal(len(filesUnder(t, dir)), 0)
	outside, err := os.ReadDir(parent)
	is.NoErr(err)
	is.Equal(len(outside), 1)
}

// The next start removes what a killed process left behind, and keeps what is needed.
func TestStartRemovesWhatIsLeftOver(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	w := work(t, openDir(t, dir, nil))
	w.fund(10)
	done := w.finish(w.begin(1), pixels(1))

	waiting := newRecord(2)
	waiting.References = []imagegen.ReferenceFile{{ID: "ref_kept", SHA256: [32]byte{1}}}
	is.NoErr(w.Stage(t.Context(), "ref_kept", strings.NewReader("kept")))
	is.NoErr(w.Keep(t.Context(), "ref_kept"))
	waiting, err := w.CreateCharged(t.Context(), waiting, time.Minute)
	is.NoErr(err)
	is.NoErr(w.Stage(t.Context(), "ref_left", strings.NewReader("left")))
	cut := stored(waiting, pixels(2)) // stored, and never published
	is.NoErr(w.PutImage(t.Context(), waiting.ImageKey(cut), bytes.NewReader(pixels(2))))
	is.NoErr(os.WriteFile(filepath.Join(dir, "tmp", "7"), []byte("half"), 0o600))
	is.NoErr(w.Close())

	db := openDir(t, dir, nil)
	is.Equal(len(filesUnder(t, dir)), 2) // the image that is published, and the reference that is waited with
	f, err := db.OpenImage(t.Context(), done.ImageKey(done.Images[0]))
	is.NoErr(err)
	is.NoErr(f.Close())
	_, err = db.Open(t.Context(), "ref_left")
	is.True(errors.Is(err, imagegen.ErrNotFound))
	kept, err := db.Open(t.Context(), "ref_kept")
	is.NoErr(err)
	is.NoErr(kept.Close())
}

// snapshot copies a directory as a kill at this moment would leave it.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// All acknowledged writes are there after a kill: a copy of the directory, taken while nothing is
// being committed, has it all.
func TestAcknowledgedIsThereAfterAKill(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	w := work(t, openDir(t, dir, nil))
	w.fund(100)
	var acknowledged []imagegen.Record
	for round := range 3 {
		var running sync.WaitGroup
		ended := make([]imagegen.Record, 8)
		for i := range ended {
			running.Go(func() {
				n := round*len(ended) + i + 1
				r, err := w.CreateCharged(t.Context(), newRecord(n), time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				if err := w.PutImage(t.Context(), r.ImageKey(stored(r, pixels(n))),
					bytes.NewReader(pixels(n))); err != nil {
					t.Error(err)
					return
				}
				ended[i], err = w.FinishSettled(t.Context(), r.Fence(),
					imagegen.OutcomeChange{Images: []imagegen.StoredImage{stored(r, pixels(n))}, At: epoch})
				if err != nil {
					t.Error(err)
				}
			})
		}
		running.Wait()
		acknowledged = append(acknowledged, ended...)

		killed := work(t, openDir(t, snapshot(t, dir), nil))
		for _, want := range acknowledged {
			got, err := killed.Generation(t.Context(), want.ID)
			is.NoErr(err)
			is.Equal(got, want)
		}
		b, err := killed.Balance(t.Context(), "alice")
		is.NoErr(err)
		is.Equal(b.Credits, imagegen.Credits(100-len(acknowledged)))
		report := killed.clean()
		is.Equal(report.Images, len(acknowledged))
	}
}

// A disk that is nearly full refuses new work before it is charged; what is under way ends.
func TestLowWater(t *testing.T) {
	w := work(t, open(t, &storage.Options{MinFree: 64 << 20}))
	ctx := t.Context()
	w.fund(10)
	r := w.begin(1)

	w.SetFree(40 << 20)
	w.is.True(w.Ready(ctx) != nil)
	_, err := w.CreateCharged(ctx, newRecord(2), time.Minute)
	w.is.True(errors.Is(err, imagegen.ErrNotApplied))
	_, err = w.Create(ctx, newRecord(2), time.Minute)
	w.is.True(errors.Is(err, imagegen.ErrNotApplied))
	w.is.NoErr(w.Stage(ctx, "ref_1", strings.NewReader("a large image of work that is paid for")))

	w.SetFree(20 << 20)
	w.is.True(errors.Is(w.Stage(ctx, "ref_2", strings.NewReader("x")), imagegen.ErrNotApplied))
	r = w.finish(r, pixels(1)) // with its image
	w.erase(r)
	w.is.NoErr(w.Charge(ctx, imagegen.Charge{ID: "outside", User: "alice", Credits: 1}))
	w.is.NoErr(w.Settle(ctx, "outside", 0))

	w.SetFree(80 << 20)
	w.is.NoErr(w.Ready(ctx))
	w.begin(2)
	b, err := w.Balance(ctx, "alice")
	w.is.NoErr(err)
	w.is.Equal(b.Credits, imagegen.Credits(8))
}
