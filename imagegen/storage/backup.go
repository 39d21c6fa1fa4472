package storage

import (
	"archive/tar"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// An archive is a tar stream: the database, the images that it names, and the manifest, which
// comes last and so shows that nothing is cut off. The hashes of the images stand in the database.
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
	Images struct {
		Count int   `json:"count"`
		Bytes int64 `json:"bytes"`
	} `json:"images"`
}

// Backup writes everything to w as one archive, for Restore. It is of one moment, the beginning,
// while work goes on; what is erased meanwhile keeps its files until the backup has ended. Uploads
// are not in it: a generation that waits with reference images fails after a restoration, and is
// refunded.
//
// An image that is missing or damaged is an error that names it: erase its generation and begin
// again. After an error what was written is worthless.
func (db *DB) Backup(ctx context.Context, w io.Writer) error {
	defer db.images.hold()()
	images, err := db.newInventory()
	if err != nil {
		return err
	}
	defer images.discard()
	b := &backup{ctx: ctx, db: db, tar: tar.NewWriter(w)}
	b.manifest.Version, b.manifest.CreatedAt = manifestVersion, db.now().UTC()
	err = db.file.view(ctx, func(t *tx) error {
		if err := b.database(t); err != nil {
			return err
		}
		return images.take(t)
	})
	if err != nil {
		return err
	}
	if err := images.each(b.image); err != nil {
		return err
	}
	return b.finish()
}

type backup struct {
	ctx      context.Context
	db       *DB
	tar      *tar.Writer
	manifest manifest
}

// database writes the snapshot; a slow w holds it up, and lets the database grow meanwhile.
func (b *backup) database(t *tx) error {
	size := t.bolt.Size()
	if err := b.header(databaseName, size); err != nil {
		return err
	}
	hash := sha256.New()
	if _, err := t.bolt.WriteTo(io.MultiWriter(contextWriter{b.ctx, b.tar}, hash)); err != nil {
		return fmt.Errorf("storage: backup: the database: %w", cmp.Or(b.ctx.Err(), err)) // bbolt does not wrap what it met
	}
	b.manifest.Database.Size = size
	b.manifest.Database.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return nil
}

func (b *backup) image(i listed) error {
	f, err := b.db.images.openHeld(b.ctx, i.Key)
	if err != nil {
		return fmt.Errorf("storage: backup: image %s of generation %s: %w", i.Key.Image, i.Key.Generation, err)
	}
	defer f.Close()
	if err := b.header(imagePath(i.Key), i.Size); err != nil {
		return err
	}
	to := contextWriter{b.ctx, b.tar}
	if err := i.matches(io.TeeReader(f, to)); err != nil {
		return fmt.Errorf("storage: backup: image %s of generation %s: %w", i.Key.Image, i.Key.Generation, err)
	}
	b.manifest.Images.Count++
	b.manifest.Images.Bytes += i.Size
	return nil
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
