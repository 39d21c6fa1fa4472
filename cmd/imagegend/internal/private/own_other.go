//go:build !unix

package private

import "io/fs"

// hasModes reports whether permissions mean anything here.
const hasModes = false

func own(fs.FileInfo) bool { return true }
