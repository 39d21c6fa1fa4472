package backups

import (
	"errors"
	"fmt"
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

// parse makes an archive of what lies in a store. What has another name is none.
func parse(name string, size int64) (a Archive, ok bool) {
	begun, isArchive := strings.CutPrefix(name, prefix)
	begun, isTar := strings.CutSuffix(begun, suffix)
	at, err := time.Parse(moment, begun)
	return Archive{Name: name, At: at, Size: size}, isArchive && isTar && err == nil
}

func oldestFirst(all []Archive) []Archive {
	slices.SortFunc(all, func(a, b Archive) int { return a.At.Compare(b.At) })
	return all
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
