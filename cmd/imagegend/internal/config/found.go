package config

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/private"
)

// namedOnly are the settings that a file which merely lies in the working directory does not decide.
// Whoever placed it there, in an archive or a repository, would have the key sent to an address of
// theirs, prompts charged to an account of theirs, or files read and replaced.
var namedOnly = map[string]bool{"url": true, "api-key": true, "output": true, "ref": true}

// unnamed is the error of such a setting.
func unnamed(file, setting string) error {
	return fmt.Errorf("%s: %s counts only in a file that you name, for anybody can place one in a directory: give --%s %s, or set %s or %s",
		file, setting, fileFlag, file, EnvName(fileFlag), EnvName(setting))
}

// findOwn finds a file of the working directory that nobody named. It must be of this user or of root.
func findOwn(path, flag string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	if err := private.CheckOwn(path); err != nil {
		return &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w; if you trust it, name it with --%s", err, flag)}
	}
	return nil
}
