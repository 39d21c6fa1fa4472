package tables

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Open calls f for each generation that has not ended or is being erased, until f returns an
// error, which it returns. What belongs to a reference or an attempt that none of them names is
// left over from a former process.
func Open(tx kv.Tx, f func(imagegen.Record) error) error {
	return eachOpen(tx, func(r row) error { return f(r.Record) })
}

func eachOpen(tx kv.Tx, f func(row) error) (err error) {
	tx.Ascend(open, nil, func(id, _ []byte) bool {
		var r row
		if r, err = indexed(tx, open, imagegen.GenerationID(id)); err == nil {
			err = f(r)
		}
		return err == nil
	})
	return err
}

// Images calls f for each image that a record names and that must be there: those of an outcome
// that is recorded, until they are erased. It stops at an error of f, which it returns.
func Images(tx kv.Tx, f func(imagegen.ImageKey, imagegen.StoredImage) error) (err error) {
	for _, b := range []kv.Bucket{open, ended} {
		tx.Ascend(b, nil, func(id, progress []byte) bool {
			r := row{Record: imagegen.Record{Intent: imagegen.Intent{ID: imagegen.GenerationID(id)}}}
			if err = r.decodeProgress(progress); err != nil || r.State == imagegen.StateErasing {
				return err == nil
			}
			for _, i := range r.Images {
				if err = f(r.ImageKey(i), i); err != nil {
					return false
				}
			}
			return true
		})
		if err != nil {
			return err
		}
	}
	return nil
}
