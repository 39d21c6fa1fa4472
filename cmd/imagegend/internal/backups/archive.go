package backups

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"
)

// Names in a directory or bucket. Those of archives sort by the time at which the backup was begun. Those of
// unfinished work begin with a dot, so that no listing takes them for archives, and end differently, so that
// removeLeftovers finds them.
const (
	prefix  = "imagegend-"
	suffix  = ".tar"
	moment  = "20060102T150405.000Z" // between prefix and suffix, in UTC
	partial = "." + prefix + "*.partial"
	scratch = "." + prefix + "*.scratch"
)

// Archive is a backup that was restored and audited before it got its name.
type Archive struct {
	Name string
	At   time.Time // when the backup was begun, to the millisecond
	Size int64     // in bytes
}

// name returns the name of the archive of a moment. Two backups of the same millisecond would have the same name; the
// schedule makes one at a time.
func name(at time.Time) string { return prefix + at.UTC().Format(moment) + suffix }

// parse returns the archive that a name belongs to. ok is false for the name of anything else: a store may hold other
// files.
func parse(name string, size int64) (a Archive, ok bool) {
	begun, isArchive := strings.CutPrefix(name, prefix)
	begun, isTar := strings.CutSuffix(begun, suffix)
	at, err := time.Parse(moment, begun)
	return Archive{Name: name, At: at, Size: size}, isArchive && isTar && err == nil
}

// oldestFirst sorts in place.
func oldestFirst(all []Archive) []Archive {
	slices.SortFunc(all, func(a, b Archive) int { return a.At.Compare(b.At) })
	return all
}

// Past returns those of the archives, which are sorted, that were begun by now. A clock that was ahead leaves archives
// of the future. Until their time has come they are neither the newest nor among those to keep: each new archive would
// be older than they are, be removed at once, and nobody would notice that backups fail.
func Past(all []Archive, now time.Time) []Archive {
	return all[:sort.Search(len(all), func(i int) bool { return all[i].At.After(now) })]
}

// removeLeftovers removes the unfinished work of a process that was killed. The lock on the directory must be held,
// or the work may be that of a process that runs.
func removeLeftovers(dir string) error {
	var errs []error
	for _, pattern := range []string{partial, scratch} {
		found, err := fs.Glob(os.DirFS(filepath.Clean(dir)), pattern)
		errs = append(errs, err)
		for _, name := range found {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, name)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("what an earlier backup left cannot be removed: %w", err)
	}
	return nil
}
