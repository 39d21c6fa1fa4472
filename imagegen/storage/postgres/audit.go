package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// Audit implements [imagegen.Inspector]. It goes over a snapshot while work goes on, and then reads the images
// that it names, if Config has an ImageStore.
func (db *DB) Audit(ctx context.Context) (imagegen.AuditReport, error) {
	a := &audit{db: db}
	err := db.view(ctx, func(s *session) error {
		a.session = s
		return errors.Join(a.books(), a.generations(), a.strays())
	})
	if err != nil {
		return a.report, fmt.Errorf("postgres: audit: %w", err)
	}
	for _, i := range a.images {
		if err := a.image(ctx, i); err != nil {
			return a.report, fmt.Errorf("postgres: audit: %w", err)
		}
	}
	return a.report, nil
}

type audit struct {
	*session
	db     *DB
	report imagegen.AuditReport
	images []listed
}

// listed is an image that a record names.
type listed struct {
	imagegen.ImageKey
	size int64
	hash [32]byte
}

func (a *audit) found(rule, subject, format string, args ...any) {
	a.report.Add(imagegen.Violation{Rule: rule, Subject: subject, Detail: fmt.Sprintf(format, args...)})
}

// books replays the journal, and checks what is kept besides.
func (a *audit) books() error {
	r := &a.report
	counts, err := ledger.Check(a.ctx, allRows{a.session}, r.Add)
	if err != nil {
		return err
	}
	r.Entries, r.Accounts, r.Lots, r.Charges = counts.Entries, counts.Accounts, counts.Lots, counts.Charges
	if _, err := tables.Check(a.ctx, &a.kept, r.Add); err != nil {
		return err
	}
	r.TrailRows, err = trail.Check(a.ctx, &a.kept, r.Add)
	return err
}

// generations holds each against itself, its charge, the columns that it is found by, the queue and the leases.
func (a *audit) generations() error {
	for after := []byte{}; ; {
		n := 0
		type stored struct {
			id, form, user []byte
			nth            int64
			columns        columns
			waits, leased  bool
		}
		var page []stored
		a.query(func(rows pgx.Rows) error {
			for rows.Next() {
				var g stored
				c := &g.columns
				if err := rows.Scan(&g.id, &g.user, &g.form, &g.nth, &c.status, &c.unsettled, &c.disputed, &c.idempotency, &c.joining, &c.ended, &c.tells, &c.erased, &c.favourite, &g.waits, &g.leased); err != nil {
					return err
				}
				page = append(page, g)
			}
			return nil
		}, `select g.id, g.usr, g.form, g.nth, status, unsettled, disputed, idempotency, joining, ended, tells, erased, favourite, w.id is not null, l.id is not null
 from imagegend.generations g left join imagegend.waiting w on w.id = g.id left join imagegend.leases l on l.id = g.id
 where g.id > $1 order by g.id limit $2`, after, pageOf)
		for _, g := range page {
			n++
			after = g.id
			a.report.Generations++
			r, err := decodeRow(imagegen.GenerationID(g.id), g.form)
			if err != nil {
				a.found("record", string(g.id), "%v", err)
				continue
			}
			a.generation(r)
			if string(g.user) != string(r.User) || !reflect.DeepEqual(columnsOf(&r), g.columns) || g.nth != int64(r.Nth) {
				a.found("index", string(r.ID), "the columns that it is found by are not those that follow from it")
			}
			if g.waits != (r.State == imagegen.StateQueued) || g.leased != r.Running() {
				a.found("index", string(r.ID), "it is %s; in the queue: %t, leased: %t", r.State, g.waits, g.leased)
			}
		}
		clear(a.charges)
		if n < pageOf {
			return a.ctx.Err()
		}
	}
}

func (a *audit) generation(r tables.Row) {
	for _, err := range []error{r.Check(), rules.Charged(allRows{a.session}, r.Record, r.Joint)} {
		v, ok := errors.AsType[imagegen.Violation](err)
		switch {
		case ok:
			a.report.Add(v)
		case err != nil:
			a.found("generation charge", string(r.ID), "%v", err)
		}
	}
	if r.State == imagegen.StateErasing || a.db.images == nil {
		return
	}
	for _, i := range r.Images {
		a.images = append(a.images, listed{r.ImageKey(i), i.Size, i.SHA256})
	}
}

// strays finds what belongs to no generation: charges that are open or spent, unless there is no generation at all,
// places in the queue and leases; and work that is due and stands in no line.
func (a *audit) strays() error {
	if a.report.Generations > 0 {
		ledger.Unreturned(uncreated{allRows{a.session}}, func(id imagegen.ChargeID) bool {
			if imagegen.GenerationID(id).Valid() {
				a.found("generation charge", string(id), "it was charged, and does not exist")
			}
			return true
		})
	}
	for what, sql := range map[string]string{
		"it waits in the queue, and does not exist": `select id from imagegend.waiting w where not exists (select from imagegend.generations g where g.id = w.id)`,
		"it is leased, and does not exist":          `select id from imagegend.leases l where not exists (select from imagegend.generations g where g.id = l.id)`,
		"it is due, and its user stands in no line": `select id from imagegend.waiting w where due is null and not exists (select from imagegend.turns t where t.usr = w.usr and t.model = w.model)`,
	} {
		a.query(func(rows pgx.Rows) error {
			var id []byte
			return each(rows, func() error { a.found("index", string(id), "%s", what); return nil }, &id)
		}, sql)
	}
	return a.ctx.Err()
}

// image reads an image, and holds it against its record. One that its record has let go since is none that is missing.
func (a *audit) image(ctx context.Context, i listed) error {
	a.report.Images++
	wrong, err := compare(ctx, a.db.images, i)
	if err != nil || wrong == "" {
		return err
	}
	r, err := a.db.Generation(ctx, i.Generation)
	if errors.Is(err, imagegen.ErrNotFound) || err == nil && (r.State == imagegen.StateErasing || len(r.Images) == 0) {
		return nil
	}
	if err == nil {
		a.found("image bytes", string(i.Image), "%s", wrong)
	}
	return err
}

// compare returns what is wrong with an image; "": nothing.
func compare(ctx context.Context, in imagegen.ImageStore, i listed) (wrong string, err error) {
	f, err := in.OpenImage(ctx, i.ImageKey)
	if errors.Is(err, imagegen.ErrNotFound) {
		return "there is none", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	n, err := io.Copy(hash, f)
	switch {
	case err != nil:
		return fmt.Sprintf("it cannot be read: %v", err), ctx.Err()
	case n != i.size:
		return fmt.Sprintf("it has %d bytes; its record says %d", n, i.size), nil
	case [32]byte(hash.Sum(nil)) != i.hash:
		return "it has another SHA-256 than its record says", nil
	}
	return "", nil
}
