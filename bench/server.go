package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// work is what a server has to do for a generation.
type work struct {
	picture picture
	openAI  bool // the image comes from an upstream, over HTTP; else the process has it ready
	memory  bool // everything is stored in memory; else on disk
	encoded bool // the upstream has its answer ready
}

// standin starts an upstream.
func (b *bench) standin(w work) (*process, error) {
	image, err := b.picture(w.picture)
	if err != nil {
		return nil, err
	}
	p, _, err := start("", 1, filepath.Join(b.bin, "standin"), "-image", image, fmt.Sprintf("-ready=%t", w.encoded))
	return p, err
}

// origin is where a server has its images from: an upstream that it asks, or else a file.
func (b *bench) origin(w work) (upstream *process, file string, err error) {
	if w.openAI {
		upstream, err = b.standin(w)
		return upstream, "", err
	}
	file, err = b.picture(w.picture)
	return nil, file, err
}

// base is where the API of an upstream begins.
func (p *process) base() string { return "http://" + p.address + "/v1" }

// program starts the reference, or the service embedded, which print so many lines.
func (b *bench) program(name string, lines int, w work) (*process, []string, error) {
	dir, err := b.workdir()
	if err != nil {
		return nil, nil, err
	}
	upstream, file, err := b.origin(w)
	if err != nil {
		return nil, nil, err
	}
	args := []string{"-image", file}
	if upstream != nil {
		args = []string{"-upstream", upstream.base()}
	}
	if !w.memory {
		args = append(args, "-dir", dir)
	}
	p, printed, err := start(dir, lines, filepath.Join(b.bin, name), args...)
	if err != nil {
		upstream.stop()
		return nil, nil, err
	}
	p.upstream = upstream
	return p, printed, nil
}

func (b *bench) workdir() (string, error) { return os.MkdirTemp(b.dir, "run-") }

// reference starts the bare server.
func (b *bench) reference(w work) (*process, error) {
	p, _, err := b.program("reference", 1, w)
	if err != nil {
		return nil, err
	}
	p.key, p.known, p.image = "img_live_reference", "/generations/known", "/image"
	return p, nil
}

// service starts the daemon, or where everything is in memory a program that embeds the service.
func (b *bench) service(w work) (*process, error) {
	if !w.memory {
		return b.daemon(w)
	}
	p, printed, err := b.program("embedded", 2, w)
	if err != nil {
		return nil, err
	}
	p.key = printed[1]
	return p, nil
}

// daemon starts the daemon on an empty directory, or on the one with much on record.
func (b *bench) daemon(w work) (*process, error) {
	dir, err := b.workdir()
	if err != nil {
		return nil, err
	}
	data := b.data
	if data == "" {
		data = filepath.Join(dir, "data")
	}
	p := &process{dir: dir}
	models, err := b.models(p, w)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd = exec.Command(filepath.Join(b.bin, "imagegend"), "serve", "--data-dir", data, "--models", models, "--addr",
		"127.0.0.1:0", "--max-queued", "100000000")
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

// models writes the daemon's models file.
func (b *bench) models(p *process, w work) (path string, err error) {
	upstream, file, err := b.origin(w)
	if err != nil {
		return "", err
	}
	provider := fmt.Sprintf("{type: fake, image: %q}", file)
	if p.upstream = upstream; upstream != nil {
		provider = fmt.Sprintf("{type: openai, base_url: %q, private: true, sizes: [1024x1024, 4096x4096]}",
			upstream.base())
	}
	path = filepath.Join(p.dir, "models.yaml")
	text := fmt.Sprintf("models:\n- id: %s\n  provider: %s\n  credits: {1K: 1, 2K: 2, 4K: 4}\n", model, provider)
	return path, os.WriteFile(path, []byte(text), 0o600)
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
