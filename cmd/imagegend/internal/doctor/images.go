package doctor

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Images writes a file where images are written first, flushes it, reads it back and removes it. serve makes the
// directories, so one that is missing beside a database has been removed.
func Images(dir string) Finding {
	tmp := filepath.Join(dir, "tmp")
	// A file in the place of a directory keeps the service from making the directory.
	for _, name := range []string{"tmp", "images", "spool"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
			return ok("images", "%s is not a directory", filepath.Join(dir, name)).
				fails("move it away; imagegend serve makes the directory")
		}
	}
	switch err := probe(tmp); {
	case errors.Is(err, fs.ErrNotExist):
		return ok("images", "there is no %s", tmp).
			fails("start imagegend serve again, which makes it; if images are missing too, restore a backup")
	case err != nil:
		return ok("images", "%v", err).fails("let the user of the service write in " + tmp + ", and look at its disk")
	}
	return ok("images", "a file in %s was written, flushed, read and removed", tmp)
}

// probe writes, flushes and reads a file as the service does with an image. The file is removed in any case.
func probe(dir string) (err error) {
	file, err := os.CreateTemp(dir, "doctor-")
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, file.Close(), os.Remove(file.Name()))
	}()
	wrote := []byte(rand.Text())
	if _, err = file.Write(wrote); err == nil {
		err = file.Sync()
	}
	if err != nil {
		return err
	}
	read, err := os.ReadFile(file.Name())
	if err == nil && !bytes.Equal(read, wrote) {
		err = fmt.Errorf("what was written to %s was not read back", file.Name())
	}
	return err
}
