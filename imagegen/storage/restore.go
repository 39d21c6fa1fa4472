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
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// Restore makes a directory from an archive that Backup wrote. dir must be absent or
// empty. Restore unpacks, checks and audits the archive under another name, and only then
// makes it a directory that Open accepts. After an error, dir contains nothing that Open would
// accept.
//
// ErrArchive: r is not an archive of Backup, is cut short, or was altered. ErrNotEmpty: dir is not empty.
func Restore(ctx context.Context, r io.Reader, dir string) (err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("storage: restore: %w", err)
	}
	_, absent := os.Stat(dir)
	occupant, err := claim(dir)
	if err != nil {
		return err
	}
	if occupant != "" {
		return fmt.Errorf("%w: %s holds %s; restore into an empty one", ErrNotEmpty, dir, occupant)
	}
	scratch, err := os.MkdirTemp(dir, scratchPrefix)
	if err != nil {
		return unreachable(dir, err)
	}
	defer func() {
		_ = os.RemoveAll(scratch) // what stays is removed at the next start
		if err != nil && absent != nil {
			_ = os.Remove(dir)
		}
	}()
	u, err := unpackAll(ctx, r, scratch)
	if err != nil {
		return err
	}
	if err := u.audit(ctx); err != nil {
		return err
	}
	return publish(scratch, dir)
}

// unpacking is an archive that is being unpacked into a directory, with what was counted so far.
type unpacking struct {
	ctx      context.Context
	dir      string
	free     func(dir string) (int64, error) // bytes that the disk has room for
	root     *os.Root
	database string // its SHA-256
	size     int64
	uploads  tally
	images   tally
	manifest *manifest
}

// unpackAll unpacks an archive into a directory that is not published yet.
func unpackAll(ctx context.Context, r io.Reader, dir string) (*unpacking, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("storage: restore: %w", err)
	}
	defer root.Close()
	u := &unpacking{ctx: ctx, dir: dir, free: freeBytes, root: root}
	for _, name := range []string{imagesDir, spoolDir} {
		if err := root.Mkdir(name, 0o700); err != nil {
			return nil, fmt.Errorf("storage: restore: %w", err)
		}
	}
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if err == io.EOF {
			return u, u.complete(r)
		}
		if err != nil {
			return nil, badArchive(err)
		}
		if err := u.entry(h, in); err != nil {
			return nil, err
		}
	}
}

// entry unpacks one part. It accepts the parts only in the order in which Backup writes them, and nothing else.
func (u *unpacking) entry(h *tar.Header, r io.Reader) error {
	if err := u.fits(h); err != nil {
		return err
	}
	switch {
	case h.Typeflag != tar.TypeReg || u.manifest != nil:
	case h.Name == databaseName && u.database == "":
		hash := sha256.New()
		n, err := u.unpack(h.Name, io.TeeReader(r, hash))
		u.database, u.size = hex.EncodeToString(hash.Sum(nil)), n
		return err
	case u.database != "" && isSpoolPath(h.Name):
		n, err := u.unpack(h.Name, r)
		u.uploads.countFile(n)
		return err
	case u.database != "" && isImagePath(h.Name):
		if err := u.root.Mkdir(path.Dir(h.Name), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("storage: restore: %w", err)
		}
		n, err := u.unpack(h.Name, r)
		u.images.countFile(n)
		return err
	case u.database != "" && h.Name == manifestName:
		u.manifest = new(manifest)
		if err := json.NewDecoder(r).Decode(u.manifest); err != nil {
			return badArchive(err)
		}
		return nil
	}
	return badArchive(fmt.Errorf("%q is out of place in it", h.Name))
}

// The most that a part of an archive can hold; the database is bounded by the disk alone.
const (
	maxOfImage    = 1 << 30
	maxOfManifest = 64 << 10
)

// fits refuses a part before anything of it is written or held in memory: one that is longer than any of its kind
// can be, or than the disk has room for, and one that is sparse, since a few bytes of it could fill a disk.
func (u *unpacking) fits(h *tar.Header) error {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return badArchive(fmt.Errorf("%q is sparse in it", h.Name))
		}
	}
	most := int64(math.MaxInt64)
	switch {
	case h.Name == manifestName:
		most = maxOfManifest
	case isSpoolPath(h.Name):
		most = imagegen.MaxReferenceBytes
	case isImagePath(h.Name):
		most = maxOfImage
	}
	if h.Size > most {
		return badArchive(fmt.Errorf("%q has %d bytes in it, more than any can have", h.Name, h.Size))
	}
	free, err := u.free(u.dir)
	if err == nil && free < h.Size {
		err = fmt.Errorf("%w: %q takes %d MiB and there are %d MiB free; make room and begin again", errNoSpace, h.Name,
			mib(h.Size), free>>20)
	}
	if err != nil {
		return fmt.Errorf("storage: restore: %w", err)
	}
	return nil
}

// isSpoolPath reports whether a name is one that spoolPath makes.
func isSpoolPath(name string) bool {
	dir, file := path.Split(name)
	return dir == spoolDir+"/" && isPlain(file)
}

// isImagePath reports whether a name is one that imagePath makes.
func isImagePath(name string) bool {
	dir, file := path.Split(name)
	shard, ok := strings.CutPrefix(path.Clean(dir), imagesDir+"/")
	return ok && len(shard) == 3 && isPlain(shard) && isPlain(strings.ReplaceAll(file, ".", "-"))
}

// unpack writes one durable file.
func (u *unpacking) unpack(name string, r io.Reader) (n int64, err error) {
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return 0, badArchive(fmt.Errorf("%q is in it twice", name))
	}
	if err != nil {
		return 0, fmt.Errorf("storage: restore: %w", err)
	}
	n, err = io.Copy(contextWriter{u.ctx, f}, r)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = badArchive(err)
	}
	return n, errors.Join(err, f.Sync(), f.Close())
}

// complete compares what was unpacked with the manifest, and checks that nothing but zeros follows the archive.
func (u *unpacking) complete(rest io.Reader) error {
	m := u.manifest
	switch {
	case m == nil:
		return badArchive(errors.New("its end is missing"))
	case m.Version != manifestVersion:
		return badArchive(fmt.Errorf("its version is %d, this one knows %d; use a newer version", m.Version,
			manifestVersion))
	case m.Database.Size != u.size || m.Database.SHA256 != u.database:
		return badArchive(errors.New("the database in it was altered"))
	case m.Uploads != u.uploads:
		return badArchive(fmt.Errorf("it has %d reference images of %d bytes and should have %d of %d", u.uploads.Count,
			u.uploads.Bytes, m.Uploads.Count, m.Uploads.Bytes))
	case m.Images != u.images:
		return badArchive(fmt.Errorf("it has %d images of %d bytes and should have %d of %d", u.images.Count,
			u.images.Bytes, m.Images.Count, m.Images.Bytes))
	}
	for buffer := make([]byte, 64<<10); ; {
		n, err := rest.Read(buffer)
		switch {
		case strings.Trim(string(buffer[:n]), "\x00") != "":
			return badArchive(errors.New("something follows its end"))
		case err == io.EOF:
			return nil
		case err != nil:
			return badArchive(err)
		}
	}
}

// audit audits what was unpacked: the books, and each image and reference image against its record. The
// audit trail goes on with who restored it.
func (u *unpacking) audit(ctx context.Context) error {
	db, err := Open(u.dir, &Options{MustExist: true})
	if err != nil {
		return err
	}
	report, err := db.auditAlone(ctx)
	if err == nil && report.Clean() {
		err = u.countUploads(db)
	}
	if err == nil && report.Clean() {
		err = db.Note(ctx, account.TrailRow{Act: account.ActDataRestore, Outcome: account.TrailDone})
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	if !report.Clean() {
		v := report.Violations[0]
		return badArchive(fmt.Errorf("%d violations, the first: %s: %s: %s", len(report.Violations)+report.More, v.Rule,
			v.Subject, v.Detail))
	}
	if report.Images != u.images.Count {
		return badArchive(fmt.Errorf("it has %d images and its database names %d", u.images.Count, report.Images))
	}
	return nil
}

// countUploads compares the number of reference images in the archive with those that records name and the spool
// has. The audit has read their bytes, and Open has removed all others.
func (u *unpacking) countUploads(db *DB) error {
	there := 0
	err := db.file.View(u.ctx, func(t kv.Tx) error {
		return tables.References(t, func(r rules.File) error {
			f, err := db.spool.Open(u.ctx, r.Upload)
			if errors.Is(err, imagegen.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			there++
			return f.Close()
		})
	})
	if err == nil && there != u.uploads.Count {
		err = badArchive(fmt.Errorf("it has %d reference images and its database names %d of them", u.uploads.Count,
			there))
	}
	return err
}

// publish moves what was unpacked to its place. All names are flushed first, and the database comes last: until then
// Open finds no database in the directory.
func publish(from, dir string) error {
	shards, err := os.ReadDir(filepath.Join(from, imagesDir))
	if err != nil {
		return fmt.Errorf("storage: restore: %w", err)
	}
	dirs := []string{imagesDir, spoolDir}
	for _, s := range shards {
		dirs = append(dirs, filepath.Join(imagesDir, s.Name()))
	}
	for _, name := range dirs {
		if err := syncDir(filepath.Join(from, name)); err != nil {
			return fmt.Errorf("storage: restore: %w", err)
		}
	}
	for _, name := range []string{imagesDir, spoolDir, databaseName} {
		if err := os.Rename(filepath.Join(from, name), filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("storage: restore: %w", err)
		}
		if err := syncDir(dir); err != nil {
			return fmt.Errorf("storage: restore: %w", err)
		}
	}
	return nil
}

// badArchive is an ErrArchive with its reason.
func badArchive(why error) error { return fmt.Errorf("%w: %w", ErrArchive, why) }
