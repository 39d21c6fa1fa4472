package disk_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/imagegend/imagegend/proof/internal/figures"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

// runScenario is what a service does in its life, one thing after another.
func runScenario(args []string) error {
	s, say, err := begin(args[0], args[1])
	if err != nil {
		return err
	}
	c := client{s, "alice", say}
	c.grant("grant", 100)
	first := c.do(request{Prompt: "synchronous", N: 2, Makes: 2, Key: "key-1"})
	c.do(request{Prompt: "asynchronous", N: 1, Makes: 1, Async: true, Reference: true, Key: "key-2"})
	c.do(first.Request)
	c.do(request{Prompt: "failing [fake:fail]", N: 1, Key: "key-3"})
	c.grant("another grant", 10)
	if first.ID != "" {
		c.erase(first.ID)
	}
	return finish(s)
}

// Whichever operation the disk fails at: nothing that was answered is lost, what was refused did not
// happen, the process ends if and only if the outcome of a commit is unknown, and the next one works.
func TestEveryFault(t *testing.T) {
	p := newPlace(t, "that a service survives every single fault of its disk", "/dev/fuse")
	e := &everyFault{place: p, served: p.subdir("served"), backing: p.subdir("backing"), notes: p.subdir("notes")}
	server, err := serve("faults", e.served, e.backing, e.notes)
	p.must(err)
	defer server.dismiss()
	for errno, name := range errnoNames {
		for _, lasting := range []bool{false, true} {
			e.sweep(trial{errno: errno, lasting: lasting})
		}
		for _, op := range []string{"create", "write", "fsync", "rename", "link", "unlink", "mkdir", "truncate",
			"allocate"} {
			if e.figures.Get(name+"-"+op) == 0 {
				t.Errorf("no %s failed with %s", op, name)
			}
		}
	}
	if t.Failed() {
		t.Log("again: go test ./proof/disk -run TestEveryFault -count=1")
	}
	e.figures.Report(t, "disk-faults")
}

type everyFault struct {
	*place
	served, backing, notes string
	figures                figures.Figures
}

// sweep tries one operation after the other, until no more are left.
func (e *everyFault) sweep(t trial) {
	const atOnce, spare = 8, 3 // not every run makes as many operations
	var nth, beyond atomic.Int64
	var trials sync.WaitGroup
	for range atOnce {
		trials.Go(func() {
			for beyond.Load() < spare {
				t := t
				t.nth = int(nth.Add(1))
				if !e.try(t) {
					beyond.Add(1)
				}
			}
		})
	}
	trials.Wait()
}

// try has one operation fail, and reports whether there was one.
func (e *everyFault) try(t trial) (struck bool) {
	name := t.String()
	tape := e.path(name + ".tape")
	backing := filepath.Join(e.backing, name)
	if err := os.Mkdir(backing, 0o700); err != nil {
		e.t.Error(err)
		return false
	}
	c, err := spawn("scenario", filepath.Join(e.served, name, "data"), tape)
	if err != nil {
		e.t.Error(err)
		return false
	}
	status, complaint := c.wait()
	what, struck, err := e.fault(name)
	if err != nil {
		e.t.Error(err)
		return false
	}
	if err := e.judge(t, what, struck, tape, status); err != nil {
		e.t.Errorf("%s: %s of %q failed, the process ended with %d (%v):\n%s", name, what.Op, what.File, status,
			complaint, shortened(err))
	}
	if err := errors.Join(os.RemoveAll(backing), os.Remove(tape)); err != nil {
		e.t.Error(err)
	}
	return struck
}

// fault returns which operation was made to fail, if one was.
func (e *everyFault) fault(name string) (what fault, struck bool, err error) {
	b, err := os.ReadFile(filepath.Join(e.notes, name))
	if errors.Is(err, fs.ErrNotExist) {
		return what, false, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &what)
	}
	return what, err == nil, err
}

// judge looks at what is left, beneath the faults.
func (e *everyFault) judge(t trial, what fault, struck bool, tape string, status int) error {
	entries, err := readTape(tape)
	if err != nil {
		return err
	}
	said, err := listen(entries)
	if err != nil {
		return err
	}
	if struck {
		e.figures.Add(errnoNames[t.errno]+"-"+what.Op, 1)
	}
	err = said.judge(&e.figures, filepath.Join(e.backing, t.String(), "data"))
	return errors.Join(said.contract(t, what, struck, status), err)
}

// contract checks how the process ended and what was answered: of the faults that concern a commit only a
// full disk at a write is survived, and all others are.
func (p *protocol) contract(t trial, what fault, struck bool, status int) error {
	commit := strings.HasSuffix(what.File, "/imagegen.db")
	switch {
	case !struck:
		if status != 0 {
			return errors.New("without a fault the process should have ended well")
		}
		return p.refusals("there was no fault")
	case !p.opened:
		if status != statusError && status != statusDisk {
			return errors.New("what can't be opened should be an error")
		}
	case commit && t.errno == syscall.ENOSPC && what.Op == "write":
		if status == statusDisk && what.meta() {
			return nil
		}
		if status != 0 {
			return errors.New("with the disk full at a write the process should have gone on")
		}
		if !t.lasting {
			return p.refusals("what was set aside should have been enough")
		}
	case commit:
		if status != statusDisk {
			return errors.New("with the outcome of a commit unknown the process should have ended")
		}
	case t.errno == syscall.ENOSPC || !t.lasting:
		if status != 0 {
			return errors.New("the process should have gone on")
		}
		if !t.lasting && p.inDoubt() {
			return errors.New("no commit had failed, and a caller was left in doubt")
		}
	}
	return nil
}

// inDoubt reports whether an answer said that the outcome of a generation is unknown.
func (p *protocol) inDoubt() bool {
	return slices.ContainsFunc(p.operations, func(d *operation) bool {
		return d.asked.What == generating && d.was(witness.Unknown)
	})
}

// meta reports whether it was a write of a meta page. What could not be written of one can be seen in
// the map of a file on FUSE, and then the outcome of the commit counts as unknown.
func (f fault) meta() bool { return f.Op == "write" && f.Offset < 2*int64(os.Getpagesize()) }

// refusals is an error if an answer said that something was not done, or may not have been.
func (p *protocol) refusals(instead string) (err error) {
	for _, d := range p.operations {
		for _, w := range d.answers {
			if w.Answer == witness.Unknown || w.Answer == witness.Busy || w.Answer == witness.Refused {
				err = errors.Join(err, fmt.Errorf("%s: the answer to %q was %q: %s", instead, w.Name, w.Answer,
					w.Detail))
			}
		}
	}
	return err
}
