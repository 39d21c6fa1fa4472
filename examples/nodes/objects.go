package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Credentials of the object store, which ends with the program.
const (
	accessKey = "nodes"
	secretKey = "only-to-look-at-it"
)

// startObjects starts an object store over a directory, and returns the address of a bucket.
func startObjects(ctx context.Context, started *processes, dir string) (url string, err error) {
	program, err := versitygw(ctx)
	if err != nil {
		return "", err
	}
	root := filepath.Join(dir, "objects")
	if err := os.MkdirAll(filepath.Join(root, "images"), 0o700); err != nil { // a directory there is a bucket
		return "", err
	}
	address, err := freeAddress()
	if err != nil {
		return "", err
	}
	server := exec.Command(program, "--access", accessKey, "--secret", secretKey, "--port", address, "--quiet", "posix",
		root)
	return "s3://images?region=us-east-1&endpoint=http://" + address, started.start(ctx, "objects", dir, address,
		os.Interrupt, server)
}

// versitygw is the program: in PATH, or where go install puts it.
func versitygw(ctx context.Context) (string, error) {
	if path, err := exec.LookPath("versitygw"); err == nil {
		return path, nil
	}
	gopath, err := exec.CommandContext(ctx, "go", "env", "GOPATH").Output()
	if err != nil {
		return "", err
	}
	path := filepath.Join(strings.TrimSpace(string(gopath)), "bin", "versitygw")
	if _, err := os.Stat(path); err != nil {
		return "", errors.New("there is no object store: run go install github.com/versity/versitygw/cmd/versitygw@v1.8.0")
	}
	return path, nil
}
