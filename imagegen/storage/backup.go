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
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// An archive is a tar stream, in this order: the database; the reference images and the images that it
// names, under the paths that they have in the directory; the manifest. As the last file the manifest shows
// that nothing was cut off. The hashes of the other files are in the database.
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

// tally counts files and their bytes.
type tally struct {
	Count int   `json:"count"`
	Bytes int64 `json:"bytes"`
}

func (t *tally) countFile(bytes int64) {
	t.Count++
	t.Bytes += bytes
}

// Backup writes everything to w as one archive for Restore, while work goes on. The archive
// contains the data of the moment at which Backup began; files that are removed meanwhile are
// kept until Backup has ended. Backup first copies the database within the directory, which needs
// that much space, so that no other call waits for a slow w. The archive includes the reference
// images of asynchronous work that has not ended, so that this work continues after Restore.
// Synchronous work that was running then fails and is refunded.
//
// If an image is missing or damaged, Backup returns an error that names it: erase its generation
// and begin again. The same holds for a damaged reference image; a missing one, for example in
// another Spool, is left out. What was erased before is not in the archive. After an error the
// archive is worthless.
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

// backup is one Backup under way.
type backup struct {
	ctx      context.Context
	db       *DB
	uploads  *uploads
	tar      *tar.Writer
	manifest manifest
}

// whole writes the copy of the database, and then removes the copy.
func (b *backup) whole(files *inventory) error {
	s, err := b.copyDatabase(files)
	if err != nil {
		return fmt.Errorf("storage: backup: %w", err)
	}
	defer s.discard()
	return b.database(s)
}

// copyDatabase copies the database and lists the files that it names. No reference image
// is removed from before the snapshot begins until all that it names are linked; after
// that nobody waits for the backup.
func (b *backup) copyDatabase(files *inventory) (*snapshot, error) {
	release := b.db.spool.hold()
	defer release()
	return b.db.copyDatabase(b.ctx, func(t *tx) error {
		if err := b.uploads.linkAll(t, files); err != nil {
			return err
		}
		release()
		return tables.Images(t, files.addFile)
	})
}

// database writes the copy to the archive, and its hash to the manifest.
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

// file writes one image or reference image, and compares it with its record on the way.
func (b *backup) file(i rules.File) error {
	f, err := b.openHeld(i)
	if errors.Is(err, imagegen.ErrNotFound) { // said in words: it would read as if the backup was not found
		return fmt.Errorf("storage: backup: %s: its file %s is missing; "+
			"imagegend audit names all such files: put them back, or erase their generations, and begin again", i,
			filePath(i))
	}
	if err != nil {
		return fmt.Errorf("storage: backup: %s: %w", i, err)
	}
	defer f.Close()
	if err := b.header(filePath(i), i.Size); err != nil {
		return err
	}
	to := &noting{w: contextWriter{b.ctx, b.tar}}
	err = compareFile(i, io.TeeReader(f, to))
	if to.err != nil { // which Compare takes for an error of the file
		return fmt.Errorf("storage: backup: the archive broke off: %w", to.err)
	}
	if err != nil {
		return fmt.Errorf("storage: backup: %s: %w", i, err)
	}
	b.manifest.tallyOf(i).countFile(i.Size)
	return nil
}

// openHeld opens a file of the inventory, even if it was removed since the backup began.
func (b *backup) openHeld(i rules.File) (io.ReadCloser, error) {
	if i.Upload != "" {
		return b.uploads.openLink(b.ctx, i.Upload)
	}
	return b.db.images.openHeld(b.ctx, i.Key)
}

// tallyOf is the tally for a file.
func (m *manifest) tallyOf(i rules.File) *tally {
	if i.Upload != "" {
		return &m.Uploads
	}
	return &m.Images
}

// finish writes the manifest. It comes last, so an archive that has one is complete.
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

// header begins a file in the archive.
func (b *backup) header(name string, size int64) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600,
		ModTime: b.manifest.CreatedAt.Truncate(time.Second)}
	if err := b.tar.WriteHeader(h); err != nil {
		return fmt.Errorf("storage: backup: %w", err)
	}
	return nil
}

// contextWriter writes until its context ends.
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

// noting keeps the last error of a writer.
type noting struct {
	w   io.Writer
	err error
}

func (n *noting) Write(p []byte) (written int, err error) {
	written, n.err = n.w.Write(p)
	return written, n.err
}
