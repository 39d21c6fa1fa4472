//go:build unix

package private

import (
	"io/fs"
	"os"
	"syscall"
)

// HasModes says whether permissions mean anything on this system.
const HasModes = true

// own reports whether a file belongs to this user or to root.
func own(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (s.Uid == 0 || int(s.Uid) == os.Geteuid())
}
