package tables

import (
	"errors"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Open calls f for each generation that has not ended or is being erased, until f returns an
// error, which it returns. What belongs to a reference or an attempt that none of them names is
// left over from a former process, unless there are damaged ones, which cannot be read.
func Open(tx kv.Tx, f func(imagegen.Record) error) (damaged []error, err error) {
	return eachOpen(tx, func(r row) error { return f(r.Record) })
}

func eachOpen(tx kv.Tx, f func(row) error) (damaged []error, err error) {
	tx.Keys(open, nil, func(id []byte) bool {
		r, wrong := spared(tx, open, imagegen.GenerationID(id))
		if wrong != nil {
			damaged = append(damaged, wrong)
			return true
		}
		err = f(r)
		return err == nil
	})
	return damaged, err
}

// Uploads calls f for each reference image that an attempt to come needs, until f returns an error,
// which it returns. Synchronous work has no attempt to come: nobody waits for it any more.
func Uploads(tx kv.Tx, f func(imagegen.GenerationID, imagegen.ReferenceFile) error) error {
	damaged, err := Open(tx, func(r imagegen.Record) error {
		if !Waits(r) {
			return nil
		}
		for _, u := range r.References {
			if err := f(r.ID, u); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, errors.Join(damaged...))
}

// Waits reports whether an attempt at a generation is to come.
func Waits(r imagegen.Record) bool {
	return r.Async && (r.State == imagegen.StateQueued || r.State == imagegen.StateProcessing)
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
