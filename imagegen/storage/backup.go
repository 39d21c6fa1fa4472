package storage

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// An archive is a tar stream: the database, the reference images and images that it names, and the
// manifest, which comes last and so shows that nothing is cut off. The hashes of the files stand in
// the database.
const (
	manifestName    = "manifest.json"
	manifestVersion = 1
)

// manifest says what an archive holds.
type manifest struct {
	Version   int       `json:"version"`
	CreatedAt time.Time `json:"created_at"`
	Database  struct {
		Size   int64  `json:"size"`
		SHA256 string `json:"sha256"`
	} `json:"database"`
	Uploads tally `json:"uploads"`
	Images  tally `json:"images"`
}

// tally is how many files there are, and how long they are together.
type tally struct {
	Count int   `json:"count"`
	Bytes int64 `json:"bytes"`
}

func (t *tally) add(bytes int64) {
	t.Count++
	t.Bytes += bytes
}

// Backup writes everything to w as one archive, for Restore. It is of one moment, the beginning,
// while work goes on; what is removed meanwhile keeps its files until the backup has ended. The
// database is copied first, which takes as much room in the directory: however slow w is, nobody
// waits for it. The reference images of asynchronous work that has not ended are in it: after a restoration that work
// is done. Synchronous work that was under way then fails, and is refunded.
//
// An image that is missing or damaged is an error that names it: erase its generation and begin
// again. So is a reference image that is damaged; one that is missing, as where another Spool keeps
// them, is left out. What was erased before is not in it. After an error what was written is worthless.
func (db *DB) Backup(ctx context.Context, w io.Writer) error {
	defer db.images.hold()()
	files, err := db.newInventory()
	if err != nil {
		return err
	}
	defer files.discard()
	uploads, err := db.spool.newUploads()
	if err != nil {
		return err
	}
	defer uploads.discard()
	b := &backup{ctx: ctx, db: db, uploads: uploads, tar: tar.NewWriter(w)}
	b.manifest.Version, b.manifest.CreatedAt = manifestVersion, db.now().UTC()
	if err := b.whole(files); err != nil {
		return err
	}
	if err := files.each(b.file); err != nil {
		return err
	}
	return b.finish()
}

type backup struct {
	ctx      context.Context
	db       *DB
	uploads  *uploads
	tar      *tar.Writer
	manifest manifest
}

// whole writes the database, of which nothing is kept thereafter.
func (b *backup) whole(files *inventory) error {
	s, err := b.copyDatabase(files)
	if err != nil {
		return fmt.Errorf("storage: backup: %w", err)
	}
	defer s.discard()
	return b.database(s)
}

// copyDatabase copies the database, and lists the files that it names. No reference image is removed
// before it is held; thereafter nobody waits for the backup.
func (b *backup) copyDatabase(files *inventory) (*snapshot, error) {
	release := b.db.spool.hold()
	defer release()
	return b.db.copyDatabase(b.ctx, func(t *tx) error {
		if err := b.uploads.take(t, files); err != nil {
			return err
		}
		release()
		return files.take(t)
	})
}

func (b *backup) database(s *snapshot) error {
	if err := b.header(databaseName, s.size); err != nil {
		return err
	}
	hash := sha256.New()
	to := io.MultiWriter(contextWriter{b.ctx, b.tar}, hash)
	if _, err := io.Copy(to, io.NewSectionReader(s.file, 0, s.size)); err != nil {
		return fmt.Errorf("storage: backup: the database: %w", err)
	}
	b.manifest.Database.Size = s.size
	b.manifest.Database.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return nil
}

func (b *backup) file(i listed) error {
	f, err := b.open(i)
	if errors.Is(err, imagegen.ErrNotFound) { // said in words: it would read as if the backup was not found
		return fmt.Errorf("storage: backup: %s: its file %s is missing; imagegend audit names all such files: put them back, or erase their generations, and begin again", i, i.path())
	}
	if err != nil {
		return fmt.Errorf("storage: backup: %s: %w", i, err)
	}
	defer f.Close()
	if err := b.header(i.path(), i.Size); err != nil {
		return err
	}
	to := contextWriter{b.ctx, b.tar}
	if err := i.matches(io.TeeReader(f, to)); err != nil {
		return fmt.Errorf("storage: backup: %s: %w", i, err)
	}
	b.manifest.of(i).add(i.Size)
	return nil
}

func (b *backup) open(i listed) (io.ReadCloser, error) {
	if i.Upload != "" {
		return b.uploads.open(b.ctx, i.Upload)
	}
	return b.db.images.openHeld(b.ctx, i.Key)
}

// of is the tally that counts a file.
func (m *manifest) of(i listed) *tally {
	if i.Upload != "" {
		return &m.Uploads
	}
	return &m.Images
}

func (b *backup) finish() error {
	text, err := json.MarshalIndent(b.manifest, "", "  ")
	if err != nil {
		return fmt.Errorf("storage: backup: %w", err)
	}
	if err := b.header(manifestName, int64(len(text))); err != nil {
		return err
	}
	if _, err := b.tar.Write(text); err != nil {
		return fmt.Errorf("storage: backup: %w", err)
	}
	if err := b.tar.Close(); err != nil {
		return fmt.Errorf("storage: backup: %w", err)
	}
	return nil
}

func (b *backup) header(name string, size int64) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: b.manifest.CreatedAt.Truncate(time.Second)}
	if err := b.tar.WriteHeader(h); err != nil {
		return fmt.Errorf("storage: backup: %w", err)
	}
	return nil
}

// contextWriter writes until a context ends.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c contextWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}
