package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// source is a copy of the source tree, with every module of its workspace, in which defects are planted.
type source struct {
	dir   string
	temp  string          // for what the tests leave
	sound map[catcher]end // of the tests, before anything was planted
}

// copySource copies the tree around the working directory, without its history: what lies beside go.work.
func copySource(ctx context.Context) (*source, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOWORK").Output()
	if err != nil {
		return nil, err
	}
	gowork := strings.TrimSpace(string(out))
	if !filepath.IsAbs(gowork) { // "", or "off"
		return nil, errors.New("there is no go.work here; run this in the source tree, without GOWORK=off")
	}
	dir, err := os.MkdirTemp("", "imagegend-mutants-")
	if err != nil {
		return nil, err
	}
	c := &source{filepath.Join(dir, "source"), filepath.Join(dir, "tmp"), map[catcher]end{}}
	err = errors.Join(os.Mkdir(c.temp, 0o700), c.copyTree(filepath.Dir(gowork)))
	if err != nil {
		c.remove()
		return nil, err
	}
	return c, nil
}

func (c *source) copyTree(from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		to := filepath.Join(c.dir, name)
		switch {
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(to, 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(to, b, info.Mode().Perm())
	})
}

func (c *source) remove() { _ = os.RemoveAll(filepath.Dir(c.dir)) }

// plant changes the code, and returns how to change it back.
func (c *source) plant(m mutant) (restore func() error, err error) {
	path := filepath.Join(c.dir, m.file)
	sound, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	changed, err := m.plant(sound)
	if err != nil {
		return nil, err
	}
	return func() error { return os.WriteFile(path, sound, 0o600) }, os.WriteFile(path, changed, 0o600)
}
