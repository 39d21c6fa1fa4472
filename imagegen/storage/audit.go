package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// Audit implements [imagegen.Inspector]. It copies the database while work goes on,
// checks the copy, and then reads every file that the copy names: images, and the
// reference images of work that waits. The directory needs space for the copy. If pages are
// damaged, or else values do not match their checksums, Audit reports only these, since it
// cannot check anything else in such a file.
//
// Audit also reports charges and images of generations that the database does not contain, unless
// it contains no generations at all. So a DB that serves as the Ledger or the ImageStore of another
// Store should have no generations itself.
func (db *DB) Audit(ctx context.Context) (imagegen.AuditReport, error) {
	a, err := db.beginAudit(ctx)
	if err != nil {
		return imagegen.AuditReport{}, err
	}
	return a.finish()
}

// audit is one audit under way: the database at one moment, then the files.
type audit struct {
	db     *DB
	ctx    context.Context
	report imagegen.AuditReport
	files  *inventory
	clean  func() // to call if nothing was found
}

// beginAudit checks the database at one moment and lists the files that it names.
func (db *DB) beginAudit(ctx context.Context) (*audit, error) {
	return db.audit(ctx, func(look func(*bbolt.Tx) error) error { return db.viewCopy(ctx, look) })
}

// auditAlone audits the database itself instead of a copy. Nobody else may be using it.
func (db *DB) auditAlone(ctx context.Context) (imagegen.AuditReport, error) {
	a, err := db.audit(ctx, func(look func(*bbolt.Tx) error) error {
		return db.file.view(ctx, func(t *tx) error { return look(t.bolt) })
	})
	if err != nil {
		return imagegen.AuditReport{}, err
	}
	return a.finish()
}

// audit checks what view shows; beginAudit and auditAlone differ only in that.
func (db *DB) audit(ctx context.Context, view func(look func(*bbolt.Tx) error) error) (*audit, error) {
	files, err := db.newInventory()
	if err != nil {
		return nil, err
	}
	a := &audit{db: db, ctx: ctx, files: files, clean: db.damage.beforeAudit()}
	if err := view(a.checkDatabase); err != nil {
		files.discard()
		return nil, fmt.Errorf("storage: audit: %w", err)
	}
	return a, nil
}

// checkDatabase checks the database from the bottom up, and stops at the first level that is
// damaged: pages, checksums, then contents.
func (a *audit) checkDatabase(t *bbolt.Tx) error {
	return guard(func() error {
		if err := checkPages(t, a.page); err != nil || !a.report.Clean() {
			return err
		}
		if err := a.checksums(t); err != nil || !a.report.Clean() {
			return err
		}
		x := &tx{bolt: t}
		return errors.Join(a.books(x), tables.Images(x, a.files.addFile), tables.References(x, a.files.addFile))
	})
}

// page reports damaged pages.
func (a *audit) page(wrong error) {
	a.report.Add(imagegen.Violation{Rule: "pages", Subject: databaseName,
		Detail: wrong.Error() + "; stop the service, before a write destroys more, and restore a backup"})
}

// finish reads the files and looks for images that no record names.
func (a *audit) finish() (imagegen.AuditReport, error) {
	defer a.files.discard()
	err := a.files.each(a.file)
	if err == nil {
		err = a.orphans()
	}
	if err == nil && a.report.Clean() {
		a.clean()
	}
	return a.report, err
}

// checksums compares every value with its checksum.
func (a *audit) checksums(t *bbolt.Tx) error {
	return t.ForEach(func(name []byte, b *bbolt.Bucket) error {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		sums := checksumsOf(kv.Bucket(name))
		return b.ForEach(func(k, stored []byte) error {
			if _, ok := sums.verify(k, stored); !ok {
				a.report.Add(imagegen.Violation{Rule: "checksum", Subject: fmt.Sprintf("%s %q", name, k),
					Detail: "the stored value does not match its checksum; restore a backup"})
			}
			return nil
		})
	})
}

// books replays the journal and compares the generations with it.
func (a *audit) books(t kv.Tx) error {
	counts, err := ledgerkv.Audit(a.ctx, t, a.report.Add)
	if err != nil {
		return err
	}
	r := &a.report
	r.Entries, r.Accounts, r.Lots, r.Charges = counts.Entries, counts.Accounts, counts.Lots, counts.Charges
	if r.Generations, err = tables.Audit(a.ctx, t, a.report.Add); err != nil {
		return err
	}
	r.TrailRows, err = trail.Audit(a.ctx, t, a.report.Add)
	return err
}

// file compares a file with its record, and reports it only if a record still names it:
// the generation may have been erased since the snapshot. A file that could not be read
// for want of descriptors or memory ends the audit with an error instead.
func (a *audit) file(i rules.File) error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	rule, subject := "image bytes", string(i.Key.Image)
	if i.Upload != "" {
		rule, subject = "reference bytes", string(i.Upload)
	} else {
		a.report.Images++
	}
	wrong := a.db.compare(a.ctx, i)
	if wrong == nil {
		return nil
	}
	if isShortage(wrong) || a.ctx.Err() != nil { // which is not the file's fault
		return fmt.Errorf("storage: audit: %s could not be checked: %w", i, wrong)
	}
	named, err := a.db.names(a.ctx, i)
	if named {
		a.report.Add(imagegen.Violation{Rule: rule, Subject: subject, Detail: wrong.Error()})
	}
	return err
}

// compare reads a file and returns what is wrong with it. A missing reference image may
// be in another Spool, and is not wrong.
func (db *DB) compare(ctx context.Context, want rules.File) error {
	f, err := db.openListed(ctx, want)
	switch {
	case errors.Is(err, imagegen.ErrNotFound) && want.Upload != "":
		return nil
	case errors.Is(err, imagegen.ErrNotFound):
		return fmt.Errorf("the file %s is missing", filePath(want))
	case err != nil:
		return err
	}
	defer f.Close()
	return compareFile(want, f)
}

// openListed opens a file of the inventory where it is now, unlike a backup, which opens what it holds.
func (db *DB) openListed(ctx context.Context, i rules.File) (io.ReadCloser, error) {
	if i.Upload != "" {
		return db.spool.Open(ctx, i.Upload)
	}
	return db.images.OpenImage(ctx, i.Key)
}

// compareFile is rules.File.Compare with the name of the file in its error.
func compareFile(f rules.File, r io.Reader) error {
	if err := f.Compare(r); err != nil {
		return fmt.Errorf("the file %s %w", filePath(f), err)
	}
	return nil
}

// names reports whether a record names the file now: an image until its erasure begins, a reference image as long as
// another attempt may need it.
func (db *DB) names(ctx context.Context, f rules.File) (bool, error) {
	r, err := db.Generation(ctx, f.Key.Generation)
	if errors.Is(err, imagegen.ErrNotFound) {
		return false, nil
	}
	named := slices.Concat(rules.Images(r), rules.References(r))
	return slices.ContainsFunc(named, func(o rules.File) bool { return o.Key == f.Key && o.Upload == f.Upload }), err
}
