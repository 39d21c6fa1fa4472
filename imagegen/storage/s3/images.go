package s3

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

const (
	imagesPrefix     = "images/"
	referencesPrefix = "references/"
)

// spread returns two hexadecimal digits that follow from a name, and are the same for ever: keys are made of them.
func spread(name string) string {
	return fmt.Sprintf("%02x", crc32.ChecksumIEEE([]byte(name))&0xff)
}

// attemptKey is what the keys of all images of an attempt begin with. The digits follow from the generation alone, so
// one listing finds them all.
func attemptKey(g imagegen.GenerationID, attempt int) string {
	return imagesPrefix + spread(string(g)) + "/" + string(g) + "." + strconv.Itoa(attempt) + "."
}

// imageKey is the key of an image, or of a thumbnail.
func imageKey(k imagegen.ImageKey) string {
	return attemptKey(k.Generation, k.Attempt) + string(k.Image)
}

// parseImageKey undoes imageKey. ok is false for a key that imageKey would not make: it is somebody else's object.
func parseImageKey(key string) (k imagegen.ImageKey, ok bool) {
	parts := strings.Split(key[strings.LastIndexByte(key, '/')+1:], ".")
	if len(parts) != 3 {
		return k, false
	}
	attempt, err := strconv.Atoi(parts[1])
	k = imagegen.ImageKey{Generation: imagegen.GenerationID(parts[0]), Attempt: attempt,
		Image: imagegen.ImageID(parts[2])}
	return k, err == nil && imageKey(k) == key
}

// isImageKey reports whether a key can name an object. If not, no such image was ever put.
func isImageKey(k imagegen.ImageKey) bool {
	return kv.Plain(string(k.Generation)) && kv.Plain(string(k.Image))
}

// PutImage implements [imagegen.ImageStore]. It removes the local file also if the put fails.
func (i *Images) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	if !isImageKey(k) {
		return imagegen.Invalid("%q and %q cannot name an object", k.Generation, k.Image)
	}
	got, err := i.local.receive(ctx, r)
	if err != nil {
		return err
	}
	return errors.Join(i.objects.putFile(ctx, imageKey(k), i.local, got), i.local.remove(got.name))
}

// putFile puts a file that was received. It leaves the file where it is.
func (o *objects) putFile(ctx context.Context, key string, l *local, r received) error {
	f, err := l.root.Open(r.name)
	if err != nil {
		return fmt.Errorf("%w: %w", imagegen.ErrNotApplied, err)
	}
	defer f.Close()
	return o.put(ctx, key, upload{f, r.size, r.md5})
}

// OpenImage implements [imagegen.ImageStore]. It makes one request, and later reads continue with its answer.
func (i *Images) OpenImage(ctx context.Context, k imagegen.ImageKey) (io.ReadSeekCloser, error) {
	if !isImageKey(k) {
		return nil, imagegen.ErrNotFound
	}
	return i.objects.openObject(ctx, imageKey(k))
}

// RemoveImages implements [imagegen.ImageStore]. It stops at the first object that cannot be removed; repeat it to
// remove the others. It lists all keys before it removes the first object, so that the list does not change meanwhile.
func (i *Images) RemoveImages(ctx context.Context, g imagegen.GenerationID, attempt int,
	keep ...imagegen.ImageID) error {
	if err := kv.NotBegun(ctx); err != nil || !kv.Plain(string(g)) {
		return err
	}
	prefix := attemptKey(g, attempt)
	found, err := i.objects.all(ctx, prefix)
	if err != nil {
		return err
	}
	for _, o := range found {
		if slices.Contains(keep, imagegen.ImageID(o.key[len(prefix):])) {
			continue
		}
		if err := i.objects.remove(ctx, o.key); err != nil {
			return err
		}
	}
	return nil
}
