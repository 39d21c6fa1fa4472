package postgres

import (
	"context"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// NamedImages implements the half of s3.Named that is about images: it reports, for each of some images or thumbnails
// of images, whether its generation has it. If its generation or its erasure is under way, all images of the
// generation count as named: it may yet come to have them, or removes them itself. So do those of a generation that
// the database does not have, since no record is deleted once images are made: the images are another database's with
// the same prefix, or were made after the moment to which this database was restored.
func (db *DB) NamedImages(ctx context.Context, keys []imagegen.ImageKey) ([]bool, error) {
	var ids []imagegen.GenerationID
	for _, k := range keys {
		ids = append(ids, k.Generation)
	}
	found := make(map[imagegen.GenerationID]imagegen.Record)
	all, err := db.records(ctx, fromGenerations+` where id = any($1)`, list(ids...))
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		found[r.ID] = r
	}
	named := make([]bool, len(keys))
	for i, k := range keys {
		k.Image = k.Image.Original()
		r := found[k.Generation]
		ended := r.Terminal() || r.State == imagegen.StateErased
		named[i] = !ended || slices.ContainsFunc(r.Images, func(i imagegen.StoredImage) bool {
			return r.ImageKey(i) == k
		})
	}
	return named, nil
}

// openWork finds what has not ended: what waits, what runs, and what was put aside, whose charge is still to be
// settled.
var openWork = fromGenerations + ` where id in (select id from imagegend.waiting union all select id from imagegend.leases
 union all select id from imagegend.generations where ` + unsettled + `)`

// NamedReferences implements the other half of s3.Named: it reports, for each of some reference images, whether work
// that has not ended needs it, also if the work was put aside.
func (db *DB) NamedReferences(ctx context.Context, ids []imagegen.ReferenceID) ([]bool, error) {
	named := make([]bool, len(ids))
	if len(ids) == 0 {
		return named, nil
	}
	all, err := db.records(ctx, openWork)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		for i := range ids {
			named[i] = named[i] || slices.ContainsFunc(r.References, func(f imagegen.ReferenceFile) bool {
				return f.ID == ids[i]
			})
		}
	}
	return named, nil
}
