package cli

import (
	"io"
	"os"
)

// isTerminal reports whether somebody may be looking at what is written to w. A character device is taken for a
// terminal, except for the null device, which is one too. A file, a pipe and a Writer of a test are none. A wrong
// answer costs little: a line of progress too many, or an output that is refused.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
