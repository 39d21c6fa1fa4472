//go:build !unix

package private

import "io/fs"

// HasModes says whether permissions mean anything on this system.
const HasModes = false

// own reports true for every file: this system does not tell whose it is.
func own(fs.FileInfo) bool { return true }

// sameOwner reports true for any two files.
func sameOwner(_, _ fs.FileInfo) bool { return true }

// Lock always succeeds: here the operator must give each process a directory of its own.
func Lock(string) (release func() error, err error) { return func() error { return nil }, nil }
