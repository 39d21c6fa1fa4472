package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/private"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/shell"
)

// others are all permissions of everybody but the owner.
const others = 0o077

// Directory looks at a data directory, and at who may do what in it. there is false if there is no directory to look
// further into. What serve would refuse is a failure; everything less is a warning.
func Directory(dir string) (f Finding, there bool) {
	f = ok("directory", "%s", dir)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f.says("there is no %s yet", dir).
			but("imagegend serve makes it; if there should be one, name it with --data-dir"), false
	case err != nil:
		return f.says("%v", err).fails("let the user of the service enter the directories above it"), false
	case !info.IsDir():
		return f.says("%s is not a directory", dir).fails("name a directory with --data-dir"), false
	}
	// An error of CheckDir says what is wrong and what to do, with a semicolon between.
	if err := private.CheckDir(dir); err != nil {
		what, remedy, _ := strings.Cut(err.Error(), "; ")
		return f.says("%s", what).fails(remedy), true
	}
	return modes(f, dir, info), true
}

// modes looks at who else may read the database and enter the directory, and at whose the directory and what is in it
// are. It reports the
// first of these that is wrong.
func modes(f Finding, dir string, info fs.FileInfo) Finding {
	if !private.HasModes {
		return f
	}
	file := filepath.Join(dir, databaseFile)
	// The database comes first: a user who can read it sees prompts and hashes of keys.
	if db, err := os.Stat(file); err == nil && db.Mode().Perm()&others != 0 {
		return f.says("others can read %s (mode %04o)", file, db.Mode().Perm()).but("run chmod 600 " +
			shell.Quote(file))
	}
	if mode := info.Mode().Perm(); mode&others != 0 {
		return f.says("others can enter %s (mode %04o)", dir, mode).but("run chmod 700 " + shell.Quote(dir))
	}
	if err := private.CheckOwn(dir); err != nil {
		return f.says("%s: %v", dir, err).but("run the service and its commands as the user whose it is")
	}
	// A service that somebody started as root has made files that the service's own user cannot use.
	if path := private.Foreign(filepath.Join(dir, "images")); path != "" {
		return f.says("%s belongs to another user, and the images in it cannot be used", path).
			but("as root, run chown -R --reference=" + shell.Quote(dir) + " " + shell.Quote(dir))
	}
	return f
}
