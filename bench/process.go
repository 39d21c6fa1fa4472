package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// build builds what is measured.
func (b *bench) build(ctx context.Context) error {
	b.bin = filepath.Join(b.dir, "bin")
	const module = "github.com/imagegend/imagegend"
	for _, pkg := range []string{"/cmd/imagegend", "/bench/reference", "/bench/embedded"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", b.bin+"/", module+pkg)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	return nil
}

// process is a server that is measured.
type process struct {
	cmd     *exec.Cmd
	address string // host:port
	key     string // of the account that pays
	dir     string
	known   string // path of a generation that can be read
	image   string // path of an image that can be downloaded
	ready   time.Time
}

func (p *process) stop() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
	os.RemoveAll(p.dir)
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

// start runs a program that prints its address on its first line, and further lines if more is
// told to be read.
func start(dir string, lines int, program string, args ...string) (*process, []string, error) {
	p := &process{cmd: exec.Command(program, args...), dir: dir}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, nil, err
	}
	var told []string
	for s := bufio.NewScanner(out); len(told) < lines && s.Scan(); {
		told = append(told, s.Text())
	}
	if len(told) < lines {
		p.stop()
		return nil, nil, fmt.Errorf("%s ended at its start", program)
	}
	go io.Copy(io.Discard, out)
	p.address = strings.TrimPrefix(told[0], "http://")
	return p, told, nil
}

func (b *bench) workdir() (string, error) { return os.MkdirTemp(b.dir, "run-") }

// reference starts the bare server; image is the file that it stores, none if empty.
func (b *bench) reference(image string) (*process, error) {
	dir, err := b.workdir()
	if err != nil {
		return nil, err
	}
	p, _, err := start(dir, 1, filepath.Join(b.bin, "reference"), "-dir", dir, "-image", image)
	if err != nil {
		return nil, err
	}
	p.key, p.known, p.image = "img_live_reference", "/generations/known", "/image"
	return p, nil
}

// embedded starts the service with its images in memory.
func (b *bench) embedded(image string) (*process, error) {
	dir, err := b.workdir()
	if err != nil {
		return nil, err
	}
	p, told, err := start(dir, 2, filepath.Join(b.bin, "embedded"), "-dir", dir, "-image", image)
	if err != nil {
		return nil, err
	}
	p.key = told[1]
	return p, nil
}

// serve starts the daemon on an empty directory, or a copy of none: on the one with much on record.
func (b *bench) serve(image string) (*process, error) {
	dir, err := b.workdir()
	if err != nil {
		return nil, err
	}
	data := b.data
	if data == "" {
		data = filepath.Join(dir, "data")
	}
	models := filepath.Join(dir, "models.yaml")
	text := fmt.Sprintf("models:\n- id: fake-1\n  provider: {type: fake, image: %q}\n  credits: {1K: 1, 2K: 2, 4K: 4}\n", image)
	if image == "" {
		text = "models:\n- id: fake-1\n  provider: {type: fake}\n  credits: {1K: 1, 2K: 2, 4K: 4}\n"
	}
	if err := os.WriteFile(models, []byte(text), 0o600); err != nil {
		return nil, err
	}
	p := &process{dir: dir}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd = exec.Command(filepath.Join(b.bin, "imagegend"), "serve", "--data-dir", data, "--models", models, "--addr", "127.0.0.1:0", "--max-queued", "100000000", "--concurrency", "256")
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if err := p.awaitReady(log.Name()); err != nil {
		p.stop()
		return nil, err
	}
	return p, b.account(p, data)
}

// awaitReady polls often, so that a start can be measured by it.
func (p *process) awaitReady(log string) error {
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(log)
		if err != nil {
			return err
		}
		if _, after, ok := strings.Cut(string(text), `"listen":"http://`); ok {
			p.address, _, _ = strings.Cut(after, `"`)
			if r, err := http.Get("http://" + p.address + "/readyz"); err == nil {
				r.Body.Close()
				p.ready = time.Now()
				return nil
			}
		}
	}
	text, _ := os.ReadFile(log)
	return fmt.Errorf("the daemon was not ready within a minute:\n%s", text)
}

// account makes a user who can pay for everything.
func (b *bench) account(p *process, data string) error {
	name := filepath.Base(p.dir)
	for _, args := range [][]string{
		{"user", "create", name, "--credits", "1000000000"},
		{"key", "create", "--user", name},
	} {
		out, err := exec.Command(filepath.Join(b.bin, "imagegend"), append(args, "--data-dir", data)...).Output()
		if err != nil {
			p.stop()
			return fmt.Errorf("%v: %w", args, err)
		}
		p.key = strings.TrimSpace(string(out))
	}
	return nil
}
