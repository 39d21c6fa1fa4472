package s3

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// OrphanAge is how old an object is before a sweep may remove it: older than any work can be that has yet to name
// it in a record.
const OrphanAge = 48 * time.Hour

// Named tells which of these objects a record names: images, by their keys, of which a thumbnail counts as its
// image, and reference images. Each call is asked about at most 1,000.
type Named interface {
	NamedImages(ctx context.Context, keys []imagegen.ImageKey) ([]bool, error)
	NamedReferences(ctx context.Context, ids []imagegen.ReferenceID) ([]bool, error)
}

// RemoveOrphans removes the objects that no record names and that are older than age, by the object store's own
// clock; of a store that does not tell its time, none. It walks the bucket in the order of the keys, so that what
// it holds in memory does not grow with them. Objects that this service did not make are left alone.
func (s *Store) RemoveOrphans(ctx context.Context, age time.Duration, in Named) (removed int, err error) {
	for _, prefix := range []string{imagesPrefix, referencesPrefix} {
		err = errors.Join(err, s.objects.list(ctx, prefix, "", func(page listing) error {
			n, err := s.sweep(ctx, page.olderThan(age), in)
			removed += n
			return err
		}))
	}
	return removed, err
}

// olderThan returns the keys of what was last changed so long ago.
func (l listing) olderThan(age time.Duration) (keys []string) {
	for _, o := range l.objects {
		if !l.now.IsZero() && !o.changed.IsZero() && l.now.Sub(o.changed) > age {
			keys = append(keys, o.key)
		}
	}
	return keys
}

// sweep removes those that no record names.
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

// parseReferenceKey undoes referenceKey.
func parseReferenceKey(key string) (imagegen.ReferenceID, bool) {
	id := imagegen.ReferenceID(key[strings.LastIndexByte(key, '/')+1:])
	return id, plain(string(id)) && referenceKey(id) == key
}
