package storage_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
	"go.etcd.io/bbolt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// archive is a backup of two generations.
func archive(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := openDir(t, usedDir(t), nil).Backup(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBackupAndRestore(t *testing.T) {
	is, dir := is.New(t), filepath.Join(t.TempDir(), "restored")
	is.NoErr(storage.Restore(t.Context(), bytes.NewReader(archive(t)), dir))
	w := work(t, openDir(t, dir, &storage.Options{MustExist: true}))
	report := w.clean()
	is.Equal(report.Images, 2)
	r, err := w.Generation(t.Context(), newRecord(2).ID)
	is.NoErr(err)
	f, err := w.OpenImage(t.Context(), r.ImageKey(r.Images[0]))
	is.NoErr(err)
	got, err := io.ReadAll(f)
	is.NoErr(errors.Join(err, f.Close()))
	is.True(bytes.Equal(got, pixels(2)))
	b, err := w.Balance(t.Context(), "alice")
	is.NoErr(err)
	is.Equal(b.Credits, imagegen.Credits(8))
	w.finish(w.begin(3), pixels(3)) // and it goes on
}

// A restoration keeps passwords, passkeys and invitations.
func TestBackupOfLogins(t *testing.T) {
	is, now := is.New(t), time.Now()
	db := open(t, nil)
	is.NoErr(db.SetLogin(t.Context(), account.Login{User: "alice", Role: account.RoleOperator, Password: "hash",
		ChangedAt: now}))
	is.NoErr(db.CreateSignIn(t.Context(), account.SignIn{Hash: [32]byte{1}, User: "alice", CreatedAt: now,
		SeenAt: now}))
	is.NoErr(db.CreateInvitation(t.Context(), account.Invitation{Hash: [32]byte{2}, User: "bob", Role: account.RoleUser,
		ExpiresAt: now.Add(time.Hour)}))
	var b bytes.Buffer
	is.NoErr(db.Backup(t.Context(), &b))
	dir := filepath.Join(t.TempDir(), "restored")
	is.NoErr(storage.Restore(t.Context(), &b, dir))
	db = openDir(t, dir, nil)
	l, err := db.Login(t.Context(), "alice")
	is.NoErr(err)
	is.Equal(l.Password, "hash")
	_, err = db.SignIn(t.Context(), [32]byte{1})
	is.NoErr(err)
	_, err = db.Invitation(t.Context(), [32]byte{2}, now)
	is.NoErr(err)
}

// A backup is of one moment, whatever goes on: work that is done and work that is erased.
func TestBackupUnderLoad(t *testing.T) {
	w := work(t, open(t, nil))
	w.fund(1000)
	var done []imagegen.Record
	for n := range 40 {
		done = append(done, w.finish(w.begin(n+1), pixels(n+1)))
	}
	var load sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	load.Go(func() {
		for n := 100; ctx.Err() == nil; n++ {
			if _, err := w.CreateCharged(t.Context(), newRecord(n), time.Minute); err != nil {
				t.Error(err)
				return
			}
		}
	})
	var b bytes.Buffer
	begun := sync.OnceFunc(func() { // the database is on its way, the images are not
		for _, r := range done[:20] {
			w.erase(r)
		}
	})
	w.is.NoErr(w.Backup(t.Context(), writer(func(p []byte) (int, error) {
		begun()
		return b.Write(p)
	})))
	stop()
	load.Wait()
	_, err := w.OpenImage(t.Context(), done[0].ImageKey(done[0].Images[0]))
	w.is.True(errors.Is(err, imagegen.ErrNotFound)) // to everybody else it is gone at once
	w.clean()

	dir := t.TempDir()
	w.is.NoErr(storage.Restore(t.Context(), &b, dir))
	restored := work(t, openDir(t, dir, nil))
	w.is.Equal(restored.clean().Images, 40) // as it was when the backup began
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// When a backup has ended, nothing stays of what was erased meanwhile.
func TestBackupKeepsNothing(t *testing.T) {
	dir := usedDir(t)
	w := work(t, openDir(t, dir, nil))
	r, err := w.Generation(t.Context(), newRecord(1).ID)
	w.is.NoErr(err)
	erase := sync.OnceFunc(func() { w.erase(r) })
	w.is.NoErr(w.Backup(t.Context(), writer(func(p []byte) (int, error) { erase(); return len(p), nil })))
	w.is.Equal(len(filesUnder(t, dir)), 1) // the other's image
}

func TestBackupNamesADamagedImage(t *testing.T) {
	is, dir := is.New(t), usedDir(t)
	db := openDir(t, dir, nil)
	is.NoErr(os.Truncate(imageFile(t, dir), 10))
	err := db.Backup(t.Context(), io.Discard)
	is.True(err != nil)
	is.True(bytes.Contains([]byte(err.Error()), []byte("of generation gen_")))
}

func TestBackupNamesAMissingImage(t *testing.T) {
	is, dir := is.New(t), usedDir(t)
	db := openDir(t, dir, nil)
	file := imageFile(t, dir)
	is.NoErr(os.Remove(file))
	err := db.Backup(t.Context(), io.Discard)
	is.True(err != nil)
	is.True(!errors.Is(err, imagegen.ErrNotFound)) // which the API would answer with 404
	for _, want := range []string{"of generation gen_", filepath.Base(file), "is missing", "imagegend audit"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func TestBackupCanBeGivenUp(t *testing.T) {
	is, db := is.New(t), openDir(t, usedDir(t), nil)
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Backup(ctx, writer(func(p []byte) (int, error) { cancel(); return len(p), nil }))
	is.True(errors.Is(err, context.Canceled))
	full := errors.New("the pipe is closed")
	err = db.Backup(t.Context(), writer(func([]byte) (int, error) { return 0, full }))
	is.True(errors.Is(err, full))
	is.NoErr(db.KV().Update(t.Context(), put("a", "1"))) // nobody else is held up
}

// A full disk behind the archive is not reported as an image that cannot be read.
func TestBackupThatCannotBeWrittenBlamesNoImage(t *testing.T) {
	is, db := is.New(t), openDir(t, usedDir(t), nil)
	full := errors.New("no space left")
	err := db.Backup(t.Context(), writer(func(p []byte) (int, error) {
		if bytes.HasPrefix(p, pixels(1)) {
			return 0, full
		}
		return len(p), nil
	}))
	is.True(errors.Is(err, full))
	is.Equal(err.Error(), "storage: backup: the archive broke off: no space left")
}

// rewrite copies an archive, with its entries changed; keep false drops one.
func rewrite(t *testing.T, archive []byte,
	edit func(i int, h *tar.Header, body []byte) (newBody []byte, keep bool)) []byte {
	t.Helper()
	is := is.New(t)
	var b bytes.Buffer
	out := tar.NewWriter(&b)
	in := tar.NewReader(bytes.NewReader(archive))
	for i := 0; ; i++ {
		h, err := in.Next()
		if err == io.EOF {
			is.NoErr(out.Close())
			return b.Bytes()
		}
		is.NoErr(err)
		body, err := io.ReadAll(in)
		is.NoErr(err)
		body, keep := edit(i, h, body)
		if !keep {
			continue
		}
		h.Size = int64(len(body))
		is.NoErr(out.WriteHeader(h))
		_, err = out.Write(body)
		is.NoErr(err)
	}
}

// In an archive of two images, entry 0 is the database, 1 and 2 are images, 3 is the manifest.
func TestAnAlteredArchiveIsRefused(t *testing.T) {
	whole := archive(t)
	edit := func(n int, f func(h *tar.Header, body []byte) ([]byte, bool)) []byte {
		return rewrite(t, whole, func(i int, h *tar.Header, body []byte) ([]byte, bool) {
			if i == n {
				return f(h, body)
			}
			return body, true
		})
	}
	flip := func(_ *tar.Header, body []byte) ([]byte, bool) {
		body[len(body)/2] ^= 1
		return body, true
	}
	drop := func(*tar.Header, []byte) ([]byte, bool) { return nil, false }
	rename := func(to string) func(h *tar.Header, body []byte) ([]byte, bool) {
		return func(h *tar.Header, body []byte) ([]byte, bool) { h.Name = to; return body, true }
	}
	for name, altered := range map[string][]byte{
		"nothing":             nil,
		"no archive":          bytes.Repeat([]byte("no archive"), 1000),
		"database altered":    edit(0, flip),
		"database missing":    edit(0, drop),
		"image altered":       edit(1, flip),
		"image missing":       edit(2, drop),
		"image shortened":     edit(1, func(_ *tar.Header, body []byte) ([]byte, bool) { return body[:5], true }),
		"image under another": edit(1, rename("images/000/gen_x.1.image_x")),
		"image outside":       edit(1, rename("images/../../evil")),
		"image as link": edit(1, func(h *tar.Header, _ []byte) ([]byte, bool) {
			h.Typeflag, h.Linkname = tar.TypeSymlink, "/etc/passwd"
			return nil, true
		}),
		"foreign file":     edit(1, rename("ballast")),
		"manifest missing": edit(3, drop),
		"manifest altered": edit(3, func(_ *tar.Header, body []byte) ([]byte, bool) {
			return bytes.Replace(body, []byte(`"count": 2`), []byte(`"count": 3`), 1), true
		}),
		"newer version": edit(3, func(_ *tar.Header, body []byte) ([]byte, bool) {
			return bytes.Replace(body, []byte(`"version": 1`), []byte(`"version": 2`), 1), true
		}),
		"something behind it": slices.Concat(whole, []byte("x")),
	} {
		t.Run(name, func(t *testing.T) { refusedArchive(t, altered) })
	}
	for _, n := range []int{1, 512, 5000, len(whole) / 2, len(whole) - 2048} {
		t.Run(fmt.Sprintf("cut to %d", n), func(t *testing.T) { refusedArchive(t, whole[:n]) })
	}
}

// refusedArchive checks that nothing is left of an archive that is not restored.
func refusedArchive(t *testing.T, archive []byte) {
	t.Helper()
	is, parent := is.New(t), t.TempDir()
	dir := filepath.Join(parent, "restored")
	err := storage.Restore(t.Context(), bytes.NewReader(archive), dir)
	if !errors.Is(err, storage.ErrArchive) {
		t.Errorf("got %v", err)
	}
	left, err := os.ReadDir(parent)
	is.NoErr(err)
	is.Equal(len(left), 0)
}

func TestRestoreOnlyIntoAnEmptyDirectory(t *testing.T) {
	is, dir := is.New(t), closedDir(t)
	err := storage.Restore(t.Context(), bytes.NewReader(archive(t)), dir)
	is.True(errors.Is(err, storage.ErrNotEmpty))
	db := openDir(t, dir, nil) // it is untouched
	b, err := db.Balance(t.Context(), "alice")
	is.NoErr(err)
	is.Equal(b.Credits, imagegen.Credits(10))
}

// Erased values lie in free pages of the file until they are used again. They are not in a backup.
func TestBackupWithoutWhatWasErased(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	db := openDir(t, dir, nil)
	const secret, kept = "a secret fox", "a fox to keep"
	for i := range 40 { // short ones, and longer than a page
		is.NoErr(db.KV().Update(t.Context(), put(fmt.Sprint("secret ", i), strings.Repeat(secret, 1+i*50))))
		is.NoErr(db.KV().Update(t.Context(), put(fmt.Sprint("kept ", i), strings.Repeat(kept, 1+i*50))))
	}
	for i := range 40 {
		is.NoErr(db.KV().Update(t.Context(), func(tx kv.Tx) error {
			tx.Delete(shelf, []byte(fmt.Sprint("secret ", i)))
			return nil
		}))
	}
	file, err := os.ReadFile(filepath.Join(dir, "imagegen.db"))
	is.NoErr(err)
	is.True(bytes.Contains(file, []byte(secret)))
	var b bytes.Buffer
	is.NoErr(db.Backup(t.Context(), &b))
	is.True(!bytes.Contains(b.Bytes(), []byte(secret)))

	restored := filepath.Join(t.TempDir(), "restored")
	is.NoErr(storage.Restore(t.Context(), &b, restored))
	again := openDir(t, restored, &storage.Options{MustExist: true})
	for i := range 40 {
		is.Equal(get(t, again, fmt.Sprint("kept ", i)), strings.Repeat(kept, 1+i*50))
		// into the free pages
		is.NoErr(again.KV().Update(t.Context(), put(fmt.Sprint("more ", i), strings.Repeat("m", 1000*i))))
	}
	is.NoErr(again.Close())
	bolt, err := bbolt.Open(filepath.Join(restored, "imagegen.db"), 0o600, nil)
	is.NoErr(err)
	is.NoErr(bolt.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			return err
		}
		return nil
	}))
	is.NoErr(bolt.Close())
}
