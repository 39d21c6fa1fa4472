package postgres

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// Audit implements [imagegen.Inspector]. It checks the rows as of one moment, while work goes on, and then the images,
// if Config has an ImageStore. The images are those that the records name by then: otherwise the snapshot would have to
// stay open until all of them were read.
func (db *DB) Audit(ctx context.Context) (imagegen.AuditReport, error) {
	a, err := db.auditRows(ctx)
	if err == nil && db.images != nil {
		a.report.Images, err = db.checkImages(ctx, a.report.Add)
	}
	if err != nil {
		return a.report, fmt.Errorf("postgres: audit: %w", err)
	}
	return a.report, nil
}

// auditRows goes over the rows of one moment. It may take longer than any limit that an operator has set for
// statements.
func (db *DB) auditRows(ctx context.Context) (*audit, error) {
	a := new(audit)
	return a, db.view(ctx, func(s *session) error {
		a.session, a.rows = s, newAllRows(s)
		s.takeTime()
		return errors.Join(a.books(), a.generations(), a.strays())
	})
}

// audit is an audit of the rows, in a session that only reads.
type audit struct {
	*session
	rows   *allRows
	report imagegen.AuditReport
}

func (a *audit) violation(rule, subject, format string, args ...any) {
	a.report.Add(imagegen.Violation{Rule: rule, Subject: subject, Detail: fmt.Sprintf(format, args...)})
}

// books replays the journal and holds the ledger against it, and checks the trail.
func (a *audit) books() error {
	r := &a.report
	counts, err := ledger.Audit(a.ctx, a.rows, r.Add)
	if err != nil {
		return err
	}
	r.Entries, r.Accounts, r.Lots, r.Charges = counts.Entries, counts.Accounts, counts.Lots, counts.Charges
	r.TrailRows, err = trail.Audit(a.ctx, &a.kept, r.Add)
	return err
}

// stood is a generation as it is stored, with its columns, and whether it stands in the queue and has a lease.
type stood struct {
	id, form, user []byte
	nth            int64
	columns        columns
	waits, leased  bool
}

// generations goes over all generations, page by page, and holds each against itself, its charge, the columns that it
// is found by, the queue and the leases. One that cannot be read is a violation and no reason to stop.
func (a *audit) generations() error {
	sums := make(rules.Totals)
	for after := []byte{}; ; {
		var page []stood
		var g stood
		c := &g.columns
		a.scan(func() { page = append(page, g) }, []any{&g.id, &g.user, &g.form, &g.nth, &c.status, &c.unsettled,
			&c.disputed, &c.idempotency, &c.joining, &c.ended, &c.tells, &c.erased, &c.favourite, &g.waits, &g.leased},
			`select g.id, g.usr, g.form, g.nth, status, unsettled, disputed, idempotency, joining, ended, tells, erased, favourite, w.id is not null, l.id is not null
 from imagegend.generations g left join imagegend.waiting w on w.id = g.id left join imagegend.leases l on l.id = g.id
 where g.id > $1 order by g.id limit $2`, after, pageOf)
		a.expect(page)
		for _, g := range page {
			after = g.id
			a.report.Generations++
			r, err := decodeRow(imagegen.GenerationID(g.id), g.form)
			if err != nil {
				a.violation("record", string(g.id), "%v", err)
				continue
			}
			sums.Add(r.TotalsKey(), r.Totals())
			a.generation(r)
			if string(g.user) != string(r.User) || !reflect.DeepEqual(columnsOf(&r), g.columns) ||
				g.nth != int64(r.Nth) {
				a.violation("index", string(r.ID), "the columns that it is found by are not those that follow from it")
			}
			if g.waits != (r.State == imagegen.StateQueued) || g.leased != r.Running() {
				a.violation("index", string(r.ID), "it is %s; in the queue: %t, leased: %t", r.State, g.waits, g.leased)
			}
		}
		if len(page) < pageOf {
			a.lessTotals(sums)
			sums.Check(a.report.Add)
			return a.ctx.Err()
		}
	}
}

// expect reads beforehand the charges that a page of generations is held against, in one query. A charge has the
// identifier of its generation.
func (a *audit) expect(page []stood) {
	ids := make([]imagegen.ChargeID, len(page))
	for n, g := range page {
		ids[n] = imagegen.ChargeID(g.id)
	}
	a.rows.forget()
	a.rows.readCharges(ids)
}

// generation checks the invariants of one generation, and that its charge fits it.
func (a *audit) generation(r tables.Row) {
	for _, err := range []error{r.Check(), rules.Charged(a.rows, r.Record, r.Joint)} {
		v, ok := errors.AsType[imagegen.Violation](err)
		switch {
		case ok:
			a.report.Add(v)
		case err != nil:
			a.violation("generation charge", string(r.ID), "%v", err)
		}
	}
}

// strays finds what belongs to no generation: charges that are open or spent, places in the queue, and leases; and work
// that is due and whose user stands in no line, which no claim would find.
//
// Where there is no generation at all, the ledger serves another store, whose generations are not here. Charges whose
// identifiers cannot be those of generations are an embedder's own.
func (a *audit) strays() error {
	if a.report.Generations > 0 {
		ledger.Unreturned(uncreated{a.rows}, func(id imagegen.ChargeID) bool {
			if imagegen.GenerationID(id).Valid() {
				a.violation("generation charge", string(id), "it was charged, and does not exist")
			}
			return true
		})
	}
	for what, sql := range map[string]string{
		"it waits in the queue, and does not exist": `select id from imagegend.waiting w where not exists (select from imagegend.generations g where g.id = w.id)`,
		"it is leased, and does not exist":          `select id from imagegend.leases l where not exists (select from imagegend.generations g where g.id = l.id)`,
		"it is due, and its user stands in no line": `select id from imagegend.waiting w where due is null and not exists (select from imagegend.turns t where t.usr = w.usr and t.model = w.model)`,
	} {
		for _, id := range identifiers[string](a.session, sql) {
			a.violation("index", id, "%s", what)
		}
	}
	return a.ctx.Err()
}
