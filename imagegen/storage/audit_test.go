package storage_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"go.etcd.io/bbolt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// usedDir is a closed directory with two generations that succeeded.
func usedDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	db, err := storage.Open(dir, nil)
	w := work(t, db)
	w.is.NoErr(err)
	w.fund(10)
	w.finish(w.begin(1), pixels(1))
	w.finish(w.begin(2), pixels(2))
	w.is.NoErr(w.Close())
	return dir
}

// imageFile is the path of the first image in a directory.
func imageFile(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "images", "*", "*"))
	if err != nil || len(found) == 0 {
		t.Fatal("there is no image", err)
	}
	return found[0]
}

func TestAuditOfSoundBooks(t *testing.T) {
	dir := usedDir(t)
	w := work(t, openDir(t, dir, nil))
	report := w.clean()
	w.is.Equal(report.Generations, 2)
	w.is.Equal(report.Images, 2)
	w.is.Equal(report.Charges, 2)
	w.is.Equal(report.Accounts, 1)
	w.is.Equal(len(filesUnder(t, filepath.Join(dir, "tmp"))), 0) // it leaves nothing
}

// change replaces the first value of a bucket, with a checksum that is right.
func change(b kv.Bucket, edit func(value []byte) []byte) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		bucket := tx.Bucket([]byte(b))
		k, stored := bucket.Cursor().First()
		value := edit(slices.Clone(stored[:len(stored)-4]))
		return bucket.Put(slices.Clone(k), storage.Stored(b, k, value))
	}
}

func lastByte(value []byte) []byte {
	value[len(value)-1] ^= 1
	return value
}

// oneMore makes a lot of alice's one credit larger than its parts; its size follows her name.
func oneMore(lot []byte) []byte {
	lot[bytes.Index(lot, []byte("alice"))+len("alice")] += 2
	return lot
}

func TestAuditFindsDamage(t *testing.T) {
	books := func(change func(*bbolt.Tx) error) func(*testing.T, string) {
		return func(t *testing.T, dir string) { tamper(t, dir, change) }
	}
	file := func(damage func(path string) error) func(*testing.T, string) {
		return func(t *testing.T, dir string) { is.New(t).NoErr(damage(imageFile(t, dir))) }
	}
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		rule   string // "": any
	}{
		"journal entry changed": {books(change("ledger.journal", lastByte)), "journal chain"},
		"journal entry lost": {books(func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte("ledger.journal"))
			k, _ := b.Cursor().First()
			return b.Delete(slices.Clone(k))
		}), ""},
		"lot that does not add up": {books(change("ledger.lots", oneMore)), "lot sum"},
		"account changed":          {books(change("ledger.accounts", lastByte)), ""},
		"generation's outcome changed": {books(change("generations", func(v []byte) []byte {
			return bytes.Replace(v, []byte("succeeded"), []byte("processed"), 1)
		})), ""},
		"value without its checksum": {books(func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte("generations"))
			k, v := b.Cursor().First()
			return b.Put(slices.Clone(k), lastByte(slices.Clone(v)))
		}), "checksum"},
		"image missing":   {file(os.Remove), "image bytes"},
		"image cut short": {file(func(path string) error { return os.Truncate(path, 10) }), "image bytes"},
		"image of nothing": {file(func(path string) error {
			return copyFile(path, strings.NewReplacer("gen_0", "gen_9", "image_0", "image_9").Replace(path))
		}), "orphaned image"},
		"image of no attempt": {file(func(path string) error {
			return copyFile(path, strings.Replace(path, ".1.", ".2.", 1))
		}), "orphaned image"},
		"thumbnail of nothing": {file(func(path string) error {
			return copyFile(path, strings.NewReplacer("gen_0", "gen_9", "image_0", "image_9").Replace(path)+"-t")
		}), "orphaned image"},
		"thumbnail of no attempt": {file(func(path string) error {
			return copyFile(path, strings.Replace(path, ".1.", ".2.", 1)+"-t")
		}), "orphaned image"},
		"image of other hash": {file(func(path string) error {
			b, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path, lastByte(b), 0o600))
		}), "image bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			is, dir := is.New(t), usedDir(t)
			c.damage(t, dir)
			db := openDir(t, dir, nil)
			report, err := db.Audit(t.Context())
			is.NoErr(err)
			is.True(!report.Clean())
			found := slices.ContainsFunc(report.Violations, func(v imagegen.Violation) bool {
				return c.rule == "" || v.Rule == c.rule
			})
			if !found {
				t.Errorf("no violation of %q in %v", c.rule, report.Violations)
			}
		})
	}
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	return errors.Join(err, os.WriteFile(to, b, 0o600))
}

// An image that an attempt has stored and no record names yet is not an orphan, nor is a file that is not an image.
func TestAuditBesideAnAttempt(t *testing.T) {
	dir := usedDir(t)
	w := work(t, openDir(t, dir, nil))
	r := w.begin(3)
	w.is.NoErr(w.PutImage(t.Context(), r.ImageKey(stored(r, pixels(3))), bytes.NewReader(pixels(3))))
	w.is.NoErr(os.WriteFile(filepath.Join(dir, "images", ".DS_Store"), []byte("x"), 0o600))
	w.is.NoErr(os.WriteFile(filepath.Join(filepath.Dir(imageFile(t, dir)), "Thumbs.db"), []byte("x"), 0o600))
	w.clean()
}

// Thumbnails are in no record: an audit leaves them alone, a backup leaves them out, and they go with
// their generation.
func TestThumbnailsBesideTheirImages(t *testing.T) {
	dir := usedDir(t)
	w := work(t, openDir(t, dir, nil))
	r, err := w.Generation(t.Context(), newRecord(1).ID)
	w.is.NoErr(err)
	k := r.ImageKey(r.Images[0])
	k.Image = k.Image.Thumbnail()
	w.is.NoErr(w.PutImage(t.Context(), k, bytes.NewReader(pixels(1))))
	w.is.Equal(w.clean().Images, 2)

	var archive bytes.Buffer
	w.is.NoErr(w.Backup(t.Context(), &archive))
	restored := filepath.Join(t.TempDir(), "restored")
	w.is.NoErr(storage.Restore(t.Context(), &archive, restored))
	_, err = openDir(t, restored, nil).OpenImage(t.Context(), k)
	w.is.True(errors.Is(err, imagegen.ErrNotFound))

	w.erase(r)
	_, err = w.OpenImage(t.Context(), k)
	w.is.True(errors.Is(err, imagegen.ErrNotFound))
	w.clean()
}

// Of users, keys, passkeys and sign-ins nothing can be lost or put in unnoticed, not even with its lines in every
// index.
func TestAuditMissesWhatIsDeleted(t *testing.T) {
	for b, rule := range map[string]string{"users": "digest", "users.names": "index", "keys": "digest",
		"keys.ids": "index", "keys.users": "index", "operatorkeys": "digest", "operatorkeys.ids": "index",
		"logins": "digest", "signins": "digest", "signins.users": "index", "invitations": "digest",
		"invitations.users": "index", "passkeys": "digest", "passkeys.users": "index", "identities": "digest",
		"identities.users": "index"} {
		first := func(tx *bbolt.Tx) (k, v []byte) {
			k, v = tx.Bucket([]byte(b)).Cursor().First()
			return slices.Clone(k), slices.Clone(v)
		}
		for name, change := range map[string]func(tx *bbolt.Tx) error{
			"deleted":   func(tx *bbolt.Tx) error { k, _ := first(tx); return tx.Bucket([]byte(b)).Delete(k) },
			"all of it": func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte(b)) },
			"altered":   change(kv.Bucket(b), lastByte),
		} {
			if rule == "index" && name == "altered" {
				continue // its keys say everything
			}
			t.Run(b+" "+name, func(t *testing.T) {
				is, dir, now := is.New(t), t.TempDir(), time.Now()
				db := openDir(t, dir, nil)
				for n, u := range []imagegen.UserID{"alice", "bob"} {
					hash := [32]byte{byte(n)}
					is.NoErr(db.CreateUser(t.Context(), imagegen.User{ID: u, Name: string(u), CreatedAt: now}))
					is.NoErr(db.CreateKey(t.Context(), imagegen.Key{ID: imagegen.KeyID("key_" + u), User: u, Hash: hash,
						CreatedAt: now}))
					is.NoErr(db.SetLogin(t.Context(), account.Login{User: u, Password: "hash", ChangedAt: now}))
					is.NoErr(db.CreateSignIn(t.Context(), account.SignIn{Hash: hash, User: u, CreatedAt: now,
						SeenAt: now}))
					is.NoErr(db.CreateInvitation(t.Context(), account.Invitation{Hash: hash, User: u,
						ExpiresAt: now.Add(time.Hour)}))
					is.NoErr(db.CreateOperatorKey(t.Context(), account.OperatorKey{ID: imagegen.OperatorKeyID("opk_" +
						u), Hash: hash, CreatedAt: now}))
					is.NoErr(db.CreatePasskey(t.Context(), account.Passkey{ID: account.PasskeyID("pk " + u), User: u,
						CreatedAt: now}))
					is.NoErr(db.CreateIdentity(t.Context(), account.Identity{Issuer: "https://id.example",
						Subject: string(u), User: u, CreatedAt: now}))
				}
				_, err := db.RevokeKey(t.Context(), "key_bob", now)
				is.NoErr(err)
				report, err := db.Audit(t.Context())
				is.NoErr(err)
				is.True(report.Clean())
				is.NoErr(db.Close())

				tamper(t, dir, change)
				report, err = openDir(t, dir, nil).Audit(t.Context())
				is.NoErr(err)
				is.True(slices.ContainsFunc(report.Violations, func(v imagegen.Violation) bool {
					return v.Rule == rule
				}))
			})
		}
	}
}

// Reference images of work that waits are held against their records; one that is missing may be kept by
// another Spool.
func TestAuditOfReferences(t *testing.T) {
	w, dir := waiting(t)
	w.clean()
	file := filepath.Join(dir, "spool", "reference_1")
	b, err := os.ReadFile(file)
	w.is.NoErr(err)
	w.is.NoErr(os.WriteFile(file, lastByte(b), 0o600))
	report, err := w.Audit(t.Context())
	w.is.NoErr(err)
	w.is.Equal(len(report.Violations), 1)
	w.is.Equal(report.Violations[0].Rule, "reference bytes")
	w.is.Equal(report.Violations[0].Subject, "reference_1")
	w.is.NoErr(os.Remove(file))
	w.clean()
}

// The images of another store, in a database without generations, are its own business.
func TestAuditOfAnImageStore(t *testing.T) {
	w, r := work(t, open(t, nil)), newRecord(1)
	w.is.NoErr(w.PutImage(t.Context(), r.ImageKey(stored(r, pixels(1))), bytes.NewReader(pixels(1))))
	w.clean()
}

// An image that is erased while the audit runs is none that is missing.
func TestAuditBesideAnErasure(t *testing.T) {
	is, dir := is.New(t), usedDir(t)
	w := work(t, openDir(t, dir, nil))
	finish, err := w.BeginAudit(t.Context())
	is.NoErr(err)
	r, err := w.Generation(t.Context(), newRecord(1).ID)
	is.NoErr(err)
	w.erase(r)
	report, err := finish()
	is.NoErr(err)
	is.Equal(report.Images, 2)
	is.True(report.Clean())
}
