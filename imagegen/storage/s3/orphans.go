package s3

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// OrphanAge is a safe age for [Store.RemoveOrphans]: no work takes this long from the put of an object to the write of
// the record that names it.
const OrphanAge = 48 * time.Hour

// Named reports which objects are named in a record; a database implements it. Each call is about at most 1,000
// objects, and its result has one value for each, in the same order. If it is not certain, the value must be true,
// since RemoveOrphans removes the other objects.
type Named interface {
	// NamedImages reports on images. A thumbnail is named if its image is. Images of a generation that the database
	// does not have must count as named: they may be another database's.
	NamedImages(ctx context.Context, keys []imagegen.ImageKey) ([]bool, error)
	// NamedReferences reports on reference images that were kept.
	NamedReferences(ctx context.Context, ids []imagegen.ReferenceID) ([]bool, error)
}

// RemoveOrphans removes objects that no record names and that are older than age. A process that died between a put and
// the write of the record leaves such objects. The age is determined by the object store's own clock when the objects
// are listed; if the store does not tell its time, nothing is removed. The memory that this takes does not grow with
// the bucket. Objects with other keys than those of this package stay.
//
// removed is the number of removed objects, also if there is an error. After an error about images, RemoveOrphans still
// goes through the references.
func (s *Store) RemoveOrphans(ctx context.Context, age time.Duration, in Named) (removed int, err error) {
	return s.RemoveOrphansFrom(ctx, age, in, "", func(string) error { return nil })
}

// RemoveOrphansFrom is RemoveOrphans that goes on behind a place ("": at the beginning). It calls passed after each
// page of at most 1,000 objects, with the place behind it, until there is an error; one of passed ends it.
func (s *Store) RemoveOrphansFrom(ctx context.Context, age time.Duration, in Named, place string,
	passed func(place string) error) (removed int, err error) {
	for _, prefix := range []string{imagesPrefix, referencesPrefix} {
		if place > prefix && !strings.HasPrefix(place, prefix) {
			continue // all of these were passed
		}
		err = errors.Join(err, s.objects.list(ctx, prefix, place, func(page listing) error {
			n, failed := s.sweep(ctx, page.olderThan(age), in)
			removed += n
			if err == nil && failed == nil && len(page.objects) > 0 {
				failed = passed(page.objects[len(page.objects)-1].key)
			}
			return failed
		}))
	}
	return removed, err
}

// olderThan returns the keys of what was last changed longer ago than age.
func (l listing) olderThan(age time.Duration) (keys []string) {
	for _, o := range l.objects {
		if !l.now.IsZero() && !o.changed.IsZero() && l.now.Sub(o.changed) > age {
			keys = append(keys, o.key)
		}
	}
	return keys
}

// sweep removes those of some objects that no record names.
func (s *Store) sweep(ctx context.Context, keys []string, in Named) (removed int, err error) {
	var (
		images     []imagegen.ImageKey
		references []imagegen.ReferenceID
		objects    []string // those of images, then those of references
	)
	for _, key := range keys {
		if k, ok := parseImageKey(key); ok {
			images, objects = append(images, k), append(objects, key)
		}
	}
	for _, key := range keys {
		if id, ok := parseReferenceKey(key); ok {
			references, objects = append(references, id), append(objects, key)
		}
	}
	named, err := in.NamedImages(ctx, images)
	if err != nil {
		return 0, err
	}
	more, err := in.NamedReferences(ctx, references)
	if err != nil {
		return 0, err
	}
	for i, known := range append(named, more...) {
		if known {
			continue
		}
		if err := s.objects.remove(ctx, objects[i]); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// parseReferenceKey undoes referenceKey; false: referenceKey makes no such key.
func parseReferenceKey(key string) (imagegen.ReferenceID, bool) {
	id := imagegen.ReferenceID(key[strings.LastIndexByte(key, '/')+1:])
	return id, kv.Plain(string(id)) && referenceKey(id) == key
}
