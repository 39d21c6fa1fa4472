package config

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/private"
)

// namedOnly are settings that count only in a file which the user names. With them, anybody who puts a file into a
// working directory, by an archive or a repository, could have the API key sent to an address of theirs, prompts
// charged to an account of theirs, or files read and replaced.
var namedOnly = map[string]bool{"url": true, "api-key": true, "output": true, "ref": true}

// findOwn looks for a file in the working directory that nobody named. It must belong to this user or to root, and
// not be writable by everybody. A missing file is an fs.ErrNotExist.
func findOwn(path, flag string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	if err := private.CheckOwn(path); err != nil {
		return &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w; if you trust it, name it with --%s", err,
			flag)}
	}
	return nil
}
