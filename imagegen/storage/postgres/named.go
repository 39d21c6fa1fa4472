package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// NamedImages implements the half of s3.Named that is about images: it reports, for each of some images or thumbnails
// of images, whether its generation has it. If the record cannot be read, or its generation or its erasure is under
// way, all images of the generation count as named: it may yet come to have them, or removes them itself. So do those
// of a generation that the database does not have, since no record is deleted once images are made: the images are
// another database's with the same prefix, or were made after the moment to which this database was restored.
func (db *DB) NamedImages(ctx context.Context, keys []imagegen.ImageKey) ([]bool, error) {
	var ids []imagegen.GenerationID
	for _, k := range keys {
		ids = append(ids, k.Generation)
	}
	found := make(map[imagegen.GenerationID]*tables.Row) // nil: all images of the generation count as named
	err := db.forms(ctx, func(id imagegen.GenerationID, form []byte) error {
		found[id] = nil
		if r, err := decodeRow(id, form); err == nil && (r.Terminal() || r.State == imagegen.StateErased) {
			found[id] = &r
		}
		return nil
	}, `select id, form from imagegend.generations where id = any($1)`, list(ids...))
	if err != nil {
		return nil, err
	}
	named := make([]bool, len(keys))
	for i, k := range keys {
		k.Image = k.Image.Original()
		r := found[k.Generation]
		named[i] = r == nil || slices.ContainsFunc(r.Images, func(i imagegen.StoredImage) bool {
			return r.ImageKey(i) == k
		})
	}
	return named, nil
}

// openWork finds what has not ended: what waits, what runs, and what was put aside, whose charge is still to be
// settled.
const openWork = `select g.id, g.form from imagegend.generations g join
 (select id from imagegend.waiting union select id from imagegend.leases union select id from imagegend.generations where unsettled) u on u.id = g.id`

// NamedReferences implements the other half of s3.Named: it reports, for each of some reference images, whether work
// that has not ended needs it, also if the work was put aside. As long as the record of such work cannot be read, all
// references count as needed.
func (db *DB) NamedReferences(ctx context.Context, ids []imagegen.ReferenceID) ([]bool, error) {
	named := make([]bool, len(ids))
	if len(ids) == 0 {
		return named, nil
	}
	err := db.forms(ctx, func(id imagegen.GenerationID, form []byte) error {
		r, err := decodeRow(id, form)
		for i := range ids {
			named[i] = named[i] || err != nil || slices.ContainsFunc(r.References, func(f imagegen.ReferenceFile) bool {
				return f.ID == ids[i]
			})
		}
		return nil
	}, openWork)
	if err != nil {
		return nil, err
	}
	return named, nil
}

// forms calls f with the identifier and the stored form of each row of a query, until f fails. imagegen.ErrNotApplied:
// the database does not answer.
func (db *DB) forms(ctx context.Context, f func(imagegen.GenerationID, []byte) error, sql string, args ...any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	within, cancel := db.patiently(ctx)
	defer cancel()
	rows, err := db.sql.Query(within, sql, args...)
	if err != nil {
		return unread(ctx, err)
	}
	defer rows.Close() // the pool would miss the connection if f fails before the last row
	var id, form []byte
	err = each(rows, func() error { return f(imagegen.GenerationID(id), form) }, &id, &form)
	if rows.Err() != nil {
		return unread(ctx, err)
	}
	return err
}

// Turn implements [imagegen.TurnTaker]. A turn that began later than now, by more than one lasts, was dated by a clock
// that has been corrected since: it holds nobody up.
func (db *DB) Turn(ctx context.Context, duty string, every time.Duration) (bool, error) {
	within, cancel := db.patiently(ctx)
	defer cancel()
	var at *time.Time // nil: by the database's clock
	if db.clock.given != nil {
		at = new(db.clock.now())
	}
	t, err := db.sql.Exec(within, `insert into imagegend.duties as d values ($1, coalesce($3, now()))
 on conflict (duty) do update set began = excluded.began where abs(extract(epoch from excluded.began - d.began)) * 1e6 >= $2`,
		duty, every.Microseconds(), at)
	if err != nil {
		return false, unread(ctx, err)
	}
	return t.RowsAffected() == 1, nil
}
