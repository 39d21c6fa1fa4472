package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// NamedImages tells which of some images, or thumbnails of images, belong to a generation that has them, or may
// come to have them: its work has not ended, or its record cannot be read.
func (db *DB) NamedImages(ctx context.Context, keys []imagegen.ImageKey) ([]bool, error) {
	var ids []imagegen.GenerationID
	for _, k := range keys {
		ids = append(ids, k.Generation)
	}
	found := make(map[imagegen.GenerationID]*tables.Row)
	err := db.forms(ctx, func(id imagegen.GenerationID, form []byte) {
		found[id] = nil
		if r, err := decodeRow(id, form); err == nil && r.Terminal() {
			found[id] = &r
		}
	}, `select id, form from imagegend.generations where id = any($1)`, list(ids...))
	if err != nil {
		return nil, err
	}
	named := make([]bool, len(keys))
	for i, k := range keys {
		k.Image = k.Image.Original()
		r, known := found[k.Generation]
		named[i] = known && (r == nil || slices.ContainsFunc(r.Images, func(i imagegen.StoredImage) bool { return r.ImageKey(i) == k }))
	}
	return named, nil
}

// NamedReferences tells which of some reference images belong to work that has not ended. Where a record cannot be
// read, all count as its own.
func (db *DB) NamedReferences(ctx context.Context, ids []imagegen.ReferenceID) ([]bool, error) {
	named := make([]bool, len(ids))
	if len(ids) == 0 {
		return named, nil
	}
	err := db.forms(ctx, func(id imagegen.GenerationID, form []byte) {
		r, err := decodeRow(id, form)
		for i := range ids {
			named[i] = named[i] || err != nil || slices.ContainsFunc(r.References, func(f imagegen.ReferenceFile) bool { return f.ID == ids[i] })
		}
	}, `select g.id, g.form from imagegend.generations g join (select id from imagegend.waiting union select id from imagegend.leases) u on u.id = g.id`)
	if err != nil {
		return nil, err
	}
	return named, nil
}

// forms reads records as they are stored.
func (db *DB) forms(ctx context.Context, f func(imagegen.GenerationID, []byte), sql string, args ...any) error {
	rows, err := db.query(ctx, sql, args...)
	if err != nil {
		return err
	}
	var id, form []byte
	return each(rows, func() error { f(imagegen.GenerationID(id), form); return nil }, &id, &form)
}

// Turn reports whether it is on this process to do what one of all processes is to do once in a while. It is nobody
// else's for so long, also if this process dies.
func (db *DB) Turn(ctx context.Context, duty string, every time.Duration) (bool, error) {
	t, err := db.pool.Exec(ctx, `insert into imagegend.duties values ($1, now()) on conflict (duty) do update set began = now() where imagegend.duties.began <= now() - $2 * interval '1 microsecond'`,
		duty, every.Microseconds())
	return err == nil && t.RowsAffected() == 1, err
}
