//go:build !unix

package main

func surviveFileSizeLimit() {}
