package main

import (
	"archive/tar"
	"compress/gzip"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// content is a file in an archive or a package.
type content struct {
	from string // relative to the repository, unless it is absolute
	name string
	mode int64
}

// archive makes a tar.gz with one directory, named after the version. The header of the gzip stream is left empty: a
// name or a time in it would differ from machine to machine.
func (r *release) archive(t target, program string) (err error) {
	f, err := os.Create(r.name(t, ".tar.gz"))
	if err != nil {
		return err
	}
	// Closing a file can be what fails, when the disk is full.
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	packed := gzip.NewWriter(f)
	// The order of the files is that of the list, on every machine.
	w := tar.NewWriter(packed)
	all := append(slices.Clone(r.documents), content{program, filepath.Base(program), 0o755})
	for _, name := range []string{notices, manual, completions["bash"], completions["fish"], completions["zsh"]} {
		all = append(all, content{filepath.Join(r.work, name), name, 0o644})
	}
	if t.os == "linux" {
		all = append(all, content{"deploy/files/imagegend.service", "imagegend.service", 0o644},
			content{"deploy/files/imagegend.yaml", "imagegend.yaml", 0o644})
	}
	for _, c := range all {
		c.name = path.Join("imagegend_"+r.version, c.name)
		if err := r.addContent(w, c); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return packed.Close()
}

// addContent writes a file's header and bytes. The header holds only what is the same everywhere: no owner, and the
// release's time.
func (r *release) addContent(w *tar.Writer, c content) error {
	b, err := os.ReadFile(r.path(c.from))
	if err != nil {
		return err
	}
	if err := w.WriteHeader(header(c.name, c.mode, int64(len(b)), r.time)); err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// header is the header of a regular file. PAX is named, or the format would depend on the values.
func header(name string, mode, size int64, at time.Time) *tar.Header {
	return &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: size, ModTime: at, Format: tar.FormatPAX}
}

// path returns where a file of the repository is.
func (r *release) path(from string) string {
	if filepath.IsAbs(from) {
		return from
	}
	return filepath.Join(r.source, from)
}
