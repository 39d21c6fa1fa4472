package storage

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// Audit implements [imagegen.Auditor]. It looks at one snapshot while work goes on, and then reads
// every image. It needs room in the directory for a copy of the ledger. Values that do not match
// their checksums are reported first and alone: nothing else can be said of a file that has any.
//
// In a database that has generations, charges and images with the identifiers of others are reported:
// one that serves as the Ledger or the ImageStore of another Store should have no generations itself.
func (db *DB) Audit(ctx context.Context) (imagegen.AuditReport, error) {
	a, err := db.beginAudit(ctx)
	if err != nil {
		return imagegen.AuditReport{}, err
	}
	return a.finish()
}

type audit struct {
	db     *DB
	ctx    context.Context
	report imagegen.AuditReport
	images *inventory
}

// beginAudit goes over one snapshot and lists the images that it names.
func (db *DB) beginAudit(ctx context.Context) (*audit, error) {
	images, err := db.newInventory()
	if err != nil {
		return nil, err
	}
	a := &audit{db: db, ctx: ctx, images: images}
	err = db.file.view(ctx, func(t *tx) error {
		if err := a.checksums(t.bolt); err != nil || !a.report.Clean() {
			return err
		}
		return errors.Join(a.books(t), images.take(t))
	})
	if err != nil {
		images.discard()
		return nil, err
	}
	return a, nil
}

// finish reads the images, and looks for those that are nobody's.
func (a *audit) finish() (imagegen.AuditReport, error) {
	defer a.images.discard()
	err := a.images.each(a.image)
	if err == nil {
		err = a.orphans()
	}
	return a.report, err
}

func (a *audit) checksums(t *bbolt.Tx) error {
	return t.ForEach(func(name []byte, b *bbolt.Bucket) error {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		label := labelOf(kv.Bucket(name))
		return b.ForEach(func(k, stored []byte) error {
			if _, ok := label.intact(k, stored); !ok {
				a.report.Add(imagegen.Violation{Rule: "checksum", Subject: fmt.Sprintf("%s %q", name, k),
					Detail: "the stored value does not match its checksum; restore a backup"})
			}
			return nil
		})
	})
}

// books replays the journal into a database of its own, and holds the generations against it.
func (a *audit) books(t kv.Tx) error {
	scratch, err := a.db.openScratch()
	if err != nil {
		return err
	}
	counts, err := ledger.Check(a.ctx, t, scratch, a.report.Add)
	if err = errors.Join(err, scratch.discard()); err != nil {
		return err
	}
	r := &a.report
	r.Entries, r.Accounts, r.Lots, r.Charges = counts.Entries, counts.Accounts, counts.Lots, counts.Charges
	r.Generations, err = tables.Check(a.ctx, t, a.report.Add)
	return err
}

// image holds a file against its record. An image that was erased since the snapshot is none that
// is missing.
func (a *audit) image(i listed) error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	a.report.Images++
	wrong := a.db.images.compare(a.ctx, i)
	if wrong == nil {
		return nil
	}
	named, err := a.db.names(a.ctx, i.Key)
	if named {
		a.report.Add(imagegen.Violation{Rule: "image bytes", Subject: string(i.Key.Image), Detail: wrong.Error()})
	}
	return err
}

// compare reads an image and returns what is wrong with it.
func (i *images) compare(ctx context.Context, want listed) error {
	f, err := i.OpenImage(ctx, want.Key)
	if errors.Is(err, imagegen.ErrNotFound) {
		return fmt.Errorf("the file %s is missing", imagePath(want.Key))
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return want.matches(f)
}

// matches reads a file to its end and returns how it differs from what it should be.
func (i listed) matches(r io.Reader) error {
	hash := sha256.New()
	n, err := io.Copy(hash, r)
	switch {
	case err != nil:
		return fmt.Errorf("the file %s cannot be read: %w", i.path(), err)
	case n != i.Size:
		return fmt.Errorf("the file %s has %d bytes; its record says %d", i.path(), n, i.Size)
	case [32]byte(hash.Sum(nil)) != i.SHA256:
		return fmt.Errorf("the file %s has another SHA-256 than its record says", i.path())
	}
	return nil
}

// names reports whether a record names an image now.
func (db *DB) names(ctx context.Context, k imagegen.ImageKey) (bool, error) {
	r, err := db.Generation(ctx, k.Generation)
	if errors.Is(err, imagegen.ErrNotFound) {
		return false, nil
	}
	for _, i := range r.Images {
		if r.ImageKey(i) == k {
			return r.State != imagegen.StateErasing, nil
		}
	}
	return false, err
}

// scratch is a database that is thrown away, and so need not be durable.
type scratch struct {
	*database
	path string
}

func (db *DB) openScratch() (*scratch, error) {
	f, err := os.CreateTemp(filepath.Join(db.dir, tempDir), "replay-")
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	bolt, err := openBolt(f.Name(), 0)
	if err != nil {
		return nil, err
	}
	bolt.NoSync, bolt.NoGrowSync = true, true
	s := &scratch{newDatabase(bolt, db.log), f.Name()}
	if err := s.start(); err != nil {
		return nil, errors.Join(err, s.discard())
	}
	return s, nil
}

func (s *scratch) discard() error { return errors.Join(s.stop(), os.Remove(s.path)) }
