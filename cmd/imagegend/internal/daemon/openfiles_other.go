//go:build !unix

package daemon

func openFiles() int { return unlimited }
