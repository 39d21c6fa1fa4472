//go:build !unix

package backups

// SyncDir does nothing: these systems refuse to flush a directory.
func SyncDir(string) error { return nil }
