package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// build builds what is measured.
func (b *bench) build(ctx context.Context) error {
	b.bin = filepath.Join(b.dir, "bin")
	const module = "github.com/imagegend/imagegend"
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", b.bin+"/",
		module+"/cmd/imagegend", module+"/bench/reference", module+"/bench/embedded", module+"/bench/standin")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// process is a server that is measured.
type process struct {
	cmd      *exec.Cmd
	upstream *process // that it asks; nil: none
	address  string   // host:port
	key      string   // of the account that pays
	dir      string   // emptied when it stops; "": none
	known    string   // path of a generation that can be read
	image    string   // path of an image that can be downloaded
	ready    time.Time
}

// stop stops the process and its upstream, if there are any.
func (p *process) stop() {
	if p == nil {
		return
	}
	p.cmd.Process.Kill()
	p.cmd.Wait()
	if p.dir != "" {
		empty(p.dir)
	}
	p.upstream.stop()
}

// empty gives the room of a directory's files back, and leaves their names until the end of the run: ext4 takes no
// inode again that was freed in the last seconds, and looks at all of them for each file that is made.
func empty(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			_ = os.Truncate(path, 0)
		}
		return nil
	})
}

// pause has the process do nothing until it goes on: not even what it does behind its answers.
func (p *process) pause() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }
func (p *process) goOn() error  { return p.cmd.Process.Signal(syscall.SIGCONT) }

// processorTime is what the process has used up.
func (p *process) processorTime() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	const tick = 10 * time.Millisecond
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var total time.Duration
	for _, f := range fields[11:13] { // utime and stime
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0, err
		}
		total += time.Duration(n) * tick
	}
	return total, nil
}

// memory is a figure of the process's status, in bytes: VmRSS: is what it holds, VmHWM: the most that
// it held.
func (p *process) memory(name string) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(status), name)
	kib, err := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
	return kib << 10, err
}

// wakeups counts how often threads of the process began to run again after they had waited. The one
// that did so most is left out: the runtime's monitor looks about dozens of times when another wakes.
func (p *process) wakeups() (total int64, err error) {
	var most int64
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", p.cmd.Process.Pid))
	for _, thread := range threads {
		status, err := os.ReadFile(thread)
		if err != nil {
			return 0, err
		}
		_, after, _ := strings.Cut(string(status), "\nvoluntary_ctxt_switches:")
		n, err := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
		if err != nil {
			return 0, err
		}
		total, most = total+n, max(most, n)
	}
	return total - most, err
}

// start runs a program that prints its address on its first line. It returns so many lines of its output.
func start(dir string, lines int, program string, args ...string) (*process, []string, error) {
	p := &process{cmd: exec.Command(program, args...), dir: dir}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, nil, err
	}
	var printed []string
	for s := bufio.NewScanner(out); len(printed) < lines && s.Scan(); {
		printed = append(printed, s.Text())
	}
	if len(printed) < lines {
		p.stop()
		return nil, nil, fmt.Errorf("%s ended at its start", program)
	}
	go io.Copy(io.Discard, out)
	p.address = strings.TrimPrefix(printed[0], "http://")
	return p, printed, nil
}
