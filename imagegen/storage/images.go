package storage

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// images is an imagegen.ImageStore. All files of a generation lie in one shard, and each
// name begins with generation and attempt. So the files of an attempt can be found
// without a record, and a new generation needs no new directory.
type images struct {
	files *files

	mu     sync.Mutex       // guards shards
	shards [shardCount]bool // those whose name in imagesDir is durable

	// removing is locked by a backup that begins or ends, and read-locked by removals: so backups does not
	// change during a removal.
	removing sync.RWMutex
	backups  int        // how many backups run: while there are any, removed files go to the trash
	trashMu  sync.Mutex // guards trash against removals at the same time
	trash    []string   // paths of removed files that a backup may still read
}

var _ imagegen.ImageStore = (*images)(nil)

// newImages opens the store of images. It makes the names of existing shards durable, since the previous process may
// have been killed before it did.
func newImages(f *files) (*images, error) {
	known, err := f.list(imagesDir, "")
	slices.Sort(known)
	if err == nil {
		err = f.syncDir(imagesDir)
	}
	i := &images{files: f}
	for n := range i.shards {
		_, i.shards[n] = slices.BinarySearch(known, path.Base(shardPath(n)))
	}
	return i, err
}

// shardCount is how many directories generations are spread over, so that each stays small. A directory is made
// when an image first needs it. The number is part of the format: another one would find no file again.
const shardCount = 1024

// shardOf spreads generations evenly over the shards.
func shardOf(g imagegen.GenerationID) int {
	return int(crc32.Checksum([]byte(g), castagnoli) % shardCount)
}

func shardPath(shard int) string { return path.Join(imagesDir, fmt.Sprintf("%03x", shard)) }

// attemptPrefix begins the names of all files of an attempt.
func attemptPrefix(g imagegen.GenerationID, attempt int) string {
	return fmt.Sprintf("%s.%d.", g, attempt)
}

// fileOf is the name of an image's file; imageKeyOf is its inverse.
func fileOf(k imagegen.ImageKey) string {
	return attemptPrefix(k.Generation, k.Attempt) + string(k.Image)
}

// imagePath is where an image lies below the directory.
func imagePath(k imagegen.ImageKey) string {
	return path.Join(shardPath(shardOf(k.Generation)), fileOf(k))
}

// isImageKey reports whether a key can be the name of a file.
func isImageKey(k imagegen.ImageKey) bool {
	return isPlain(string(k.Generation)) && isPlain(string(k.Image))
}

// PutImage implements [imagegen.ImageStore].
func (i *images) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	if !isImageKey(k) {
		return imagegen.Invalid("%q and %q cannot name a file", k.Generation, k.Image)
	}
	if err := i.files.writable(ctx); err != nil {
		return err
	}
	if err := i.makeShard(shardOf(k.Generation)); err != nil {
		return err
	}
	return i.files.writeFile(ctx, imagePath(k), r, true)
}

// makeShard makes a shard's directory durably, unless that is known to exist. Callers that come at once wait for one
// flush, which happens only once for each shard.
func (i *images) makeShard(shard int) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.shards[shard] {
		return nil
	}
	if err := i.files.root.Mkdir(shardPath(shard), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return unwritten(err)
	}
	if err := i.files.syncDir(imagesDir); err != nil {
		return notApplied(err)
	}
	i.shards[shard] = true
	return nil
}

// OpenImage implements [imagegen.ImageStore]. On Unix the file can be read to its end even if it is removed meanwhile.
func (i *images) OpenImage(ctx context.Context, k imagegen.ImageKey) (io.ReadSeekCloser, error) {
	if !isImageKey(k) {
		return nil, imagegen.ErrNotFound
	}
	f, err := i.files.open(ctx, imagePath(k))
	if err != nil {
		return nil, err
	}
	return f, nil
}

// RemoveImages implements [imagegen.ImageStore]. Removed images stay removed after a power cut. RemoveImages finds
// files by their names, so it also removes those that no record names.
func (i *images) RemoveImages(ctx context.Context, g imagegen.GenerationID, attempt int,
	keep ...imagegen.ImageID) error {
	if err := i.files.writable(ctx); err != nil || !isPlain(string(g)) {
		return err
	}
	shard, prefix := shardPath(shardOf(g)), attemptPrefix(g, attempt)
	names, err := i.files.list(shard, prefix)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return slices.Contains(keep, imagegen.ImageID(name[len(prefix):]))
	})
	if len(names) == 0 {
		return nil
	}
	i.removing.RLock()
	defer i.removing.RUnlock()
	for _, name := range names {
		if err := i.discard(path.Join(shard, name)); err != nil {
			return err
		}
	}
	return i.files.syncDir(shard)
}

// discard removes a file, or moves it into the trash while a backup may still have to read it. The caller holds
// removing.
func (i *images) discard(name string) error {
	if i.backups == 0 {
		return i.files.remove(name)
	}
	err := i.files.root.Rename(name, trashPath(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("storage: %w", err)
	}
	i.trashMu.Lock()
	defer i.trashMu.Unlock()
	i.trash = append(i.trash, trashPath(name))
	return nil
}

// trashPath is in the directory that is emptied at each start.
func trashPath(name string) string { return path.Join(tempDir, path.Base(name)) }

// hold keeps every image that exists now readable by openHeld, until release is called. A backup calls it before it
// looks at the database, so that every image which the database names is held.
func (i *images) hold() (release func()) {
	i.removing.Lock()
	defer i.removing.Unlock()
	i.backups++
	return sync.OnceFunc(i.release)
}

// release ends a backup. The last one empties the trash.
func (i *images) release() {
	i.removing.Lock()
	defer i.removing.Unlock()
	if i.backups--; i.backups > 0 {
		return
	}
	for _, name := range i.trash {
		_ = i.files.remove(name) // what stays is removed at the next start
	}
	i.trash = nil
}

// openHeld opens an image for a backup that holds them: the file itself, or what is in the trash of it. In this order
// it finds a file that is removed in between.
func (i *images) openHeld(ctx context.Context, k imagegen.ImageKey) (io.ReadCloser, error) {
	f, err := i.files.open(ctx, imagePath(k))
	if errors.Is(err, imagegen.ErrNotFound) {
		return i.files.open(ctx, trashPath(imagePath(k)))
	}
	return f, err
}
