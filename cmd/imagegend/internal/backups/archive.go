package backups

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The names of archives, which sort by the time at which they were begun, and of what is on its way.
const (
	prefix  = "imagegend-"
	suffix  = ".tar"
	moment  = "20060102T150405.000Z"
	partial = "." + prefix + "*.partial"
	scratch = "." + prefix + "*.scratch"
)

// Archive is a backup that was verified.
type Archive struct {
	Name string
	At   time.Time // the moment that it is of
	Size int64     // in bytes
}

// name is that of an archive.
func name(at time.Time) string { return prefix + at.UTC().Format(moment) + suffix }

// List lists the archives in a directory, oldest first. What has another name is none of them.
func List(dir string) (all []Archive, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("the backups cannot be listed: %w", err)
	}
	for _, e := range entries {
		begun, isArchive := strings.CutPrefix(e.Name(), prefix)
		begun, isTar := strings.CutSuffix(begun, suffix)
		at, err := time.Parse(moment, begun)
		if !isArchive || !isTar || err != nil {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, Archive{Name: e.Name(), At: at, Size: info.Size()})
	}
	slices.SortFunc(all, func(a, b Archive) int { return a.At.Compare(b.At) })
	return all, nil
}

// prune removes the oldest archives beyond those that are kept.
func (s *Schedule) prune() error {
	all, err := List(s.Dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, a := range all[:max(0, len(all)-s.Keep)] {
		errs = append(errs, os.Remove(filepath.Join(s.Dir, a.Name)))
	}
	return errors.Join(errors.Join(errs...), s.look())
}

// removeLeftovers removes what a process that was killed was about to make. Nobody else is at work here.
func removeLeftovers(dir string) error {
	var errs []error
	for _, pattern := range []string{partial, scratch} {
		found, err := filepath.Glob(filepath.Join(quoted(dir), pattern))
		errs = append(errs, err)
		for _, path := range found {
			errs = append(errs, os.RemoveAll(path))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("what an earlier backup left cannot be removed: %w", err)
	}
	return nil
}

// quoted is a path that means itself in a pattern.
func quoted(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
