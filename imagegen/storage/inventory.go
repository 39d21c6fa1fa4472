package storage

import (
	"bufio"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
)

// inventory is a list of the files that the records of one snapshot name. It is kept in a temporary file, since there
// may be millions. It exists so that the snapshot can be released before these files are read: as long as a
// snapshot is held, the database reuses no pages and can only grow.
type inventory struct {
	file *os.File
	out  *bufio.Writer
	enc  *gob.Encoder
}

// filePath is where a file lies below the directory.
func filePath(f rules.File) string {
	if f.Upload != "" {
		return spoolPath(f.Upload)
	}
	return imagePath(f.Key)
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

// addFile adds a file to the list. It must not be called after each.
func (v *inventory) addFile(f rules.File) error {
	if err := v.enc.Encode(f); err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	return nil
}

// each calls f for each file, until f returns an error, which it returns. Nothing is added after it.
func (v *inventory) each(f func(rules.File) error) error {
	if err := v.out.Flush(); err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	if _, err := v.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	for in := gob.NewDecoder(bufio.NewReader(v.file)); ; {
		var file rules.File
		switch err := in.Decode(&file); {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("storage: %w", err)
		}
		if err := f(file); err != nil {
			return err
		}
	}
}

// discard removes the list; what stays is removed at the next start.
func (v *inventory) discard() {
	_ = v.file.Close()
	_ = os.Remove(v.file.Name())
}
