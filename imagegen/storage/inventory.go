package storage

import (
	"bufio"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// inventory is a list of the files that the records of one snapshot name. It is kept in a temporary file, since there
// may be millions. It exists so that the snapshot can be released before these files are read: as long as a
// snapshot is held, the database reuses no pages and can only grow.
type inventory struct {
	file *os.File
	out  *bufio.Writer
	enc  *gob.Encoder
}

// listed is one file of an inventory: an image, or a reference image of work that waits.
type listed struct {
	Key    imagegen.ImageKey    // of a reference image only the generation
	Upload imagegen.ReferenceID // "" for an image
	Size   int64
	SHA256 [32]byte
}

// path is where the file lies below the directory.
func (i listed) path() string {
	if i.Upload != "" {
		return spoolPath(i.Upload)
	}
	return imagePath(i.Key)
}

func (i listed) String() string {
	if i.Upload != "" {
		return fmt.Sprintf("reference image %s of generation %s", i.Upload, i.Key.Generation)
	}
	return fmt.Sprintf("image %s of generation %s", i.Key.Image, i.Key.Generation)
}

// newInventory creates an empty list in tempDir. The caller discards it.
func (db *DB) newInventory() (*inventory, error) {
	f, err := os.CreateTemp(filepath.Join(db.dir, tempDir), "inventory-")
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	out := bufio.NewWriter(f)
	return &inventory{f, out, gob.NewEncoder(out)}, nil
}

// take adds the images that a snapshot names. Reference images are added by eachUpload, or by a backup that holds
// them.
func (v *inventory) take(t kv.Tx) error {
	return tables.Images(t, func(k imagegen.ImageKey, i imagegen.StoredImage) error {
		return v.add(listed{Key: k, Size: i.Size, SHA256: i.SHA256})
	})
}

// add adds a file to the list. It must not be called after each.
func (v *inventory) add(i listed) error {
	if err := v.enc.Encode(i); err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	return nil
}

// each calls f for each file, until f returns an error, which it returns. Nothing is added after it.
func (v *inventory) each(f func(listed) error) error {
	if err := v.out.Flush(); err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	if _, err := v.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	for in := gob.NewDecoder(bufio.NewReader(v.file)); ; {
		var i listed
		switch err := in.Decode(&i); {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("storage: %w", err)
		}
		if err := f(i); err != nil {
			return err
		}
	}
}

// discard removes the list; what stays is removed at the next start.
func (v *inventory) discard() {
	_ = v.file.Close()
	_ = os.Remove(v.file.Name())
}
