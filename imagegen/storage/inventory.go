package storage

import (
	"bufio"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// inventory lists the images that the records of one snapshot name. It lies in a file: there may
// be millions, and the snapshot is not to be held while theirs are read, for until it is let go
// the database can only grow.
type inventory struct {
	file *os.File
	out  *bufio.Writer
	enc  *gob.Encoder
}

// listed is one image of an inventory.
type listed struct {
	Key    imagegen.ImageKey
	Size   int64
	SHA256 [32]byte
}

func (db *DB) newInventory() (*inventory, error) {
	f, err := os.CreateTemp(filepath.Join(db.dir, tempDir), "inventory-")
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	out := bufio.NewWriter(f)
	return &inventory{f, out, gob.NewEncoder(out)}, nil
}

// take lists what a snapshot names.
func (v *inventory) take(t kv.Tx) error {
	err := tables.Images(t, func(k imagegen.ImageKey, i imagegen.StoredImage) error {
		return v.enc.Encode(listed{k, i.Size, i.SHA256})
	})
	if err = errors.Join(err, v.out.Flush()); err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	return nil
}

// each calls f for each image, until f returns an error, which it returns.
func (v *inventory) each(f func(listed) error) error {
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
