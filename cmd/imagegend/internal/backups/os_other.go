//go:build !unix

package backups

// syncDir does nothing: these systems have no flush for a directory.
func syncDir(string) error { return nil }
