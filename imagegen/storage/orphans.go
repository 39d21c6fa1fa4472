package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// orphans reports image files that cannot belong to anything: files of a generation that was never charged,
// or of an attempt that never began. Charge and attempt are durable before the attempt's first image is
// written, so running work never looks like that. A database that is older than the files beside it does.
//
// Other files that no record names are not reported. They may belong to an attempt whose provider has not
// returned yet, however long ago its time was up. The attempt removes them itself; if it cannot, the next
// attempt, the next start or the erasure of the generation does.
func (a *audit) orphans() error {
	if a.report.Generations == 0 {
		return nil // the images of another store
	}
	err := fs.WalkDir(a.db.root.FS(), imagesDir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return a.orphan(file)
	})
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	return nil
}

// orphan looks at one file. It reads the record as it is now, not as it was in the snapshot, which may be older than
// the file.
func (a *audit) orphan(file string) error {
	k, ok := imageKeyOf(path.Base(file))
	if !ok {
		return a.ctx.Err() // nothing of ours
	}
	v := imagegen.Violation{Rule: "orphaned image", Subject: string(k.Image)}
	r, err := a.db.Generation(a.ctx, k.Generation)
	switch {
	case errors.Is(err, imagegen.ErrNotFound):
		v.Detail = fmt.Sprintf("the file %s is of a generation that does not exist", file)
	case err != nil:
		return err
	case k.Attempt > r.Attempt:
		v.Detail = fmt.Sprintf("the file %s is of attempt %d; there were %d", file, k.Attempt, r.Attempt)
	default:
		return nil
	}
	a.report.Add(v)
	return nil
}

// imageKeyOf undoes fileOf; ok is false for a name that fileOf does not make.
func imageKeyOf(name string) (k imagegen.ImageKey, ok bool) {
	parts := strings.Split(name, ".")
	if len(parts) != 3 {
		return k, false
	}
	attempt, err := strconv.Atoi(parts[1])
	k = imagegen.ImageKey{Generation: imagegen.GenerationID(parts[0]), Attempt: attempt,
		Image: imagegen.ImageID(parts[2])}
	g, own := k.Image.Original().Generation()
	return k, err == nil && own && g == k.Generation
}
