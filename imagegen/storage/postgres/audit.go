package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// Audit implements [imagegen.Inspector]. It checks the rows while work goes on, and then the images, if Config has an
// ImageStore. Users, and pages of generations and of whatever else there is, are each checked as of a moment of their
// own: otherwise the database could not clean up for as long as an audit takes.
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

// auditRows goes over the rows. It may take longer than any limit that an operator has set for statements.
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
	a.renew()
	r.TrailRows, err = trail.Audit(a.ctx, &a.kept, r.Add)
	return err
}

// stood is a generation as it is stored, and whether it stands in the queue and has a lease.
type stood struct {
	*genRow
	waits, leased bool
}

// generations goes over all generations, page by page, and holds each against itself, its charge, what follows from it,
// the queue and the leases.
func (a *audit) generations() error {
	sums := make(rules.Totals)
	counted := make(map[imagegen.GenerationID]tables.Row) // that may come to count for more while the audit goes on
	for after := imagegen.GenerationID(""); ; {
		a.renew()
		page := make(map[imagegen.GenerationID]*stood)
		var ids []imagegen.GenerationID
		read(a.session, scanGenerations, func(g *genRow) {
			ids, page[g.ID] = append(ids, g.ID), &stood{genRow: g}
		}, fromGenerations+` where id > $1 order by id limit $2`, after, pageOf)
		among := func(table string) []imagegen.GenerationID {
			return identifiers[imagegen.GenerationID](a.session, `select id from `+table+` where id = any($1)`,
				list(ids...))
		}
		for _, id := range among(`imagegend.waiting`) {
			page[id].waits = true
		}
		for _, id := range among(`imagegend.leases`) {
			page[id].leased = true
		}
		a.expect(ids)
		for _, id := range ids {
			after = id
			a.report.Generations++
			g := page[id]
			r := g.lift()
			sums.Add(r.TotalsKey(), r.Totals())
			if !r.Terminal() && r.State != imagegen.StateErased || r.Dispute != "" {
				counted[id] = r
			}
			a.generation(r)
			if made := lay(r); made.status != g.status || made.hash != g.hash ||
				made.counts != g.counts {
				a.violation("index", string(id), "the columns that it is found by are not those that follow from it")
			}
			if g.waits != (r.State == imagegen.StateQueued) || g.leased != r.Running() {
				a.violation("index", string(id), "it is %s; in the queue: %t, leased: %t", r.State, g.waits, g.leased)
			}
		}
		if len(ids) < pageOf {
			a.totals(sums, counted)
			return a.ctx.Err()
		}
	}
}

// totals holds the totals against the sums over generations that were read one page after the other, in the moment of
// the last page. What was counted before it came to its end is counted anew. If the two differ all the same, all
// generations are read again in this moment: one may have come behind the place where the audit had been.
func (a *audit) totals(sums rules.Totals, counted map[imagegen.GenerationID]tables.Row) {
	recount := func(g *genRow) {
		r := g.lift()
		if former, known := counted[r.ID]; known {
			sums.Add(former.TotalsKey(), imagegen.Totals{}.Minus(former.Totals()))
		}
		sums.Add(r.TotalsKey(), r.Totals())
	}
	for ids := range slices.Chunk(slices.Collect(maps.Keys(counted)), pageOf) {
		read(a.session, scanGenerations, recount, readRows, list(ids...))
	}
	a.lessTotals(sums)
	sound := true
	if sums.Check(func(imagegen.Violation) { sound = false }); sound {
		return
	}
	clear(sums)
	clear(counted)
	for after, n := imagegen.GenerationID(""), pageOf; n == pageOf; {
		n = 0
		read(a.session, scanGenerations, func(g *genRow) { n++; after = g.ID; recount(g) },
			fromGenerations+` where id > $1 order by id limit $2`, after, pageOf)
	}
	a.lessTotals(sums)
	sums.Check(a.report.Add)
}

// expect reads beforehand the charges that a page of generations is held against, in one query. A charge has the
// identifier of its generation.
func (a *audit) expect(page []imagegen.GenerationID) {
	ids := make([]imagegen.ChargeID, len(page))
	for n, id := range page {
		ids[n] = imagegen.ChargeID(id)
	}
	a.rows.forget()
	a.rows.readCharges(ids)
}

// generation checks the invariants of one generation, and that its charge fits it.
func (a *audit) generation(r tables.Row) {
	rules.Found(a.report.Add, r.ID, r.Check())
	rules.Found(a.report.Add, r.ID, rules.Charged(a.rows, r.Record, r.Joint))
}

// strays finds what belongs to no generation: charges that are open or spent, places in the queue, and leases; and work
// that is due and whose user stands in no line, which no claim would find.
//
// A store without any generation is one of which only the ledger is used.
func (a *audit) strays() error {
	if a.report.Generations > 0 {
		none := func(imagegen.GenerationID) bool { return false }
		rules.Uncreated(a.ctx, uncreated{a.rows}, none, a.report.Add)
	}
	a.renew()
	for what, sql := range map[string]string{
		"it waits in the queue, and does not exist":      `select id from imagegend.waiting w where not exists (select from imagegend.generations g where g.id = w.id)`,
		"it is leased, and does not exist":               `select id from imagegend.leases l where not exists (select from imagegend.generations g where g.id = l.id)`,
		"an image of it is there, and it does not exist": `select distinct generation from imagegend.images i where not exists (select from imagegend.generations g where g.id = i.generation)`,
		"how much of this user's work (of all: empty) waits is not what is kept of it": `select usr from (
 select usr, 1 as n from imagegend.waiting where counted union all select '', 1 from imagegend.waiting where counted union all select usr, -n from imagegend.queue_lengths) x group by usr having sum(n) <> 0`,
		"it is due, and its user stands in no line": `select id from imagegend.waiting w where due is null and not exists (select from imagegend.turns t where t.usr = w.usr and t.model = w.model)`,
	} {
		for _, id := range identifiers[string](a.session, sql) {
			a.violation("index", id, "%s", what)
		}
	}
	return a.ctx.Err()
}
