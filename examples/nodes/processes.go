package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// processes are what was started, and is stopped in the reverse order.
type processes struct {
	all   []*process
	ended chan error
}

type process struct {
	name   string
	cmd    *exec.Cmd
	signal os.Signal // that asks it to end
	done   chan struct{}
}

// start starts a program whose output goes to a file, and waits until it listens at an address.
func (p *processes) start(ctx context.Context, name, dir, address string, signal os.Signal, cmd *exec.Cmd) error {
	path := filepath.Join(dir, name+".log")
	output, err := os.Create(path)
	if err != nil {
		return err
	}
	defer output.Close()
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s does not start: %w", name, err)
	}
	started := &process{name, cmd, signal, make(chan struct{})}
	p.all = append(p.all, started)
	if p.ended == nil {
		p.ended = make(chan error, 8)
	}
	go func() {
		err := cmd.Wait()
		close(started.done)
		p.ended <- fmt.Errorf("%s has ended: %v", name, err)
	}()
	for {
		if c, err := net.Dial("tcp", address); err == nil {
			return c.Close()
		}
		select {
		case <-started.done:
			said, _ := os.ReadFile(path)
			return fmt.Errorf("%s has ended:\n%s", name, said)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// failed tells of a process that has ended by itself.
func (p *processes) failed() <-chan error { return p.ended }

// patience is how long a process may take to end before it is killed.
const patience = 30 * time.Second

func (p *processes) stop() (err error) {
	for i := len(p.all) - 1; i >= 0; i-- {
		one := p.all[i]
		_ = one.cmd.Process.Signal(one.signal) // it may have ended
		select {
		case <-one.done:
		case <-time.After(patience):
			err = errors.Join(err, fmt.Errorf("%s had to be killed", one.name), one.cmd.Process.Kill())
			<-one.done
		}
	}
	return err
}

// freeAddress is one on which nobody listens.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
