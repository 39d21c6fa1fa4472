//go:build !unix

package main

// surviveFileSizeLimit does nothing: only Unix has SIGXFSZ.
func surviveFileSizeLimit() {}
