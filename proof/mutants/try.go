package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"time"
)

// fate is what became of a mutant.
type fate string

const (
	caught   fate = "caught"
	survived fate = "SURVIVED"
	broken   fate = "BROKEN"  // it cannot be planted or does not compile, or its test fails without it
	skipped  fate = "skipped" // this machine cannot run its test
)

// end is how a mutant, or a test without one, ended.
type end struct {
	fate   fate
	detail string
	took   time.Duration
}

// try plants a mutant, runs its test and takes it out again.
func (c *source) try(ctx context.Context, m mutant) end {
	if e := c.baseline(ctx, m.catcher); e.fate != survived {
		return e
	}
	restore, err := c.plant(m)
	if err != nil {
		return end{fate: broken, detail: err.Error()}
	}
	e := c.test(ctx, m.catcher)
	if err := restore(); err != nil {
		return end{fate: broken, detail: err.Error()}
	}
	return e
}

// baseline runs a test while nothing is planted, once. It has to pass.
func (c *source) baseline(ctx context.Context, by catcher) end {
	e, known := c.sound[by]
	if known {
		return e
	}
	if e = c.test(ctx, by); e.fate == caught {
		e = end{broken, "without the mutant: " + e.detail, e.took}
	}
	c.sound[by] = e
	return e
}

var (
	failed = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)
	fell   = regexp.MustCompile(`(?m)^panic: (.*)`)
	late   = regexp.MustCompile(`(?m)^panic: test timed out`)
	leftIt = regexp.MustCompile(`(?m)^ *--- SKIP: (\S+)`)
	didRun = regexp.MustCompile(`(?m)^=== RUN`)
)

// test runs a test. What counts is that it says so, or panics: not that it does not compile, nor
// that it never ends.
func (c *source) test(ctx context.Context, by catcher) end {
	began := time.Now()
	if out, err := c.command(ctx, 0, "test", "-run=^$", by.pkg); err != nil {
		return end{broken, "it does not compile: " + lastLine(out), time.Since(began)}
	}
	began = time.Now()
	out, err := c.command(ctx, by.runs, "test", "-count=1", "-v", "-timeout=3m", "-run="+by.run, by.pkg)
	took := time.Since(began)
	_, exited := errors.AsType[*exec.ExitError](err)
	switch names := failed.FindAllSubmatch(out, -1); {
	case exited && len(names) > 0:
		return end{caught, string(deepest(names)), took}
	case exited && fell.Match(out) && !late.Match(out):
		return end{caught, by.run + ": panic: " + string(fell.FindSubmatch(out)[1]), took}
	case err != nil:
		return end{broken, "the test did not end with a failure: " + lastLine(out), took}
	case leftIt.Match(out):
		return end{skipped, string(leftIt.FindSubmatch(out)[1]), took}
	case !didRun.Match(out):
		return end{broken, "there is no such test: " + by.run + " in " + by.pkg, took}
	}
	return end{survived, by.run + " passes", took}
}

// deepest is the first of the failed subtests that lie deepest.
func deepest(names [][][]byte) (name []byte) {
	for _, n := range names {
		if bytes.Count(n[1], []byte("/")) > bytes.Count(name, []byte("/")) || name == nil {
			name = n[1]
		}
	}
	return name
}

// command runs go in the copy. Trimmed paths let all copies share one build cache.
func (c *source) command(ctx context.Context, runs int, args ...string) (out []byte, err error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath -ldflags=-w -vet=off", "GOPROXY=off", "TMPDIR="+c.temp,
		"IMAGEGEN_TEST_POSTGRES=1", "PROOF_TIMES=1")
	if runs > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprint("PROOF_RUNS=", runs))
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // go test ends its test too
	return cmd.CombinedOutput()
}

func lastLine(out []byte) string {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return string(lines[len(lines)-1])
}
