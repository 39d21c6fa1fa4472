package s3

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// OrphanAge is how old an object must be before a sweep may remove it: older than any work can be that has yet to name
// it in a record.
const OrphanAge = 48 * time.Hour

// Named tells which objects some record names; a database implements it. A call asks about at most 1,000 objects, and
// the answer has as many values in the same order. What is not known for certain must count as named: the others are
// removed.
type Named interface {
	// NamedImages is asked about images. A thumbnail counts as its image.
	NamedImages(ctx context.Context, keys []imagegen.ImageKey) ([]bool, error)
	// NamedReferences is asked about reference images that were kept.
	NamedReferences(ctx context.Context, ids []imagegen.ReferenceID) ([]bool, error)
}

// RemoveOrphans removes objects that no record names and that are older than age: those of a process that died between
// a put and the record. The age is by the object store's own clock, at the time of the listing; if the store does not
// tell its time, nothing is removed. It works page by page, so that the memory it takes does not grow with the bucket.
// Objects whose keys this package does not make are left alone.
//
// removed counts what was removed, also where there is an error. If the images fail, the references are swept all the
// same.
func (s *Store) RemoveOrphans(ctx context.Context, age time.Duration, in Named) (removed int, err error) {
	for _, prefix := range []string{imagesPrefix, referencesPrefix} {
		err = errors.Join(err, s.objects.list(ctx, prefix, func(page listing) error {
			n, err := s.sweep(ctx, page.olderThan(age), in)
			removed += n
			return err
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
	return id, plain(string(id)) && referenceKey(id) == key
}
