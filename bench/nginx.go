package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// file reads an image of the service, against nginx sending the same bytes from a file to anybody.
type file struct {
	picture picture
	part    string // of the image, as a Range header has it; "": all
}

func (f file) name() string {
	if f.part != "" {
		return fmt.Sprintf("GET of a part of an image, %s, %s", f.part, f.picture.name)
	}
	return "GET of a whole image, " + f.picture.name
}

// againstNginx is empty cells where nginx is not installed.
func (f file) againstNginx(t target) row {
	return row{f.name() + ", 64 at once, against nginx", func(ctx context.Context, b *bench) ([]string, error) {
		turns, err := b.hold(ctx, f.ours, f.theirs)
		if errors.Is(err, exec.ErrNotFound) {
			return []string{"–", "nginx is not installed", "–"}, nil
		}
		if err != nil {
			return nil, err
		}
		return []string{
			fmt.Sprintf("%.0f", median(each(turns[0], rate))),
			t.cell(ratios(turns[0], turns[1], rate)),
			spread(ratios(turns[0], turns[1], processor)),
		}, nil
	}}
}

func (f file) ours(b *bench) (side, error) {
	p, err := b.service(work{picture: f.picture})
	if err != nil {
		return side{}, err
	}
	if err := p.makeOne(f.picture.edge); err != nil {
		p.stop()
		return side{}, err
	}
	return f.of(p), nil
}

func (f file) of(p *process) side {
	l, request := p.load(nil, readers), p.getOf(p.image)
	if f.part != "" {
		l.Status = http.StatusPartialContent
		request = bytes.Replace(request, []byte("\r\n\r\n"), []byte("\r\nRange: bytes="+f.part+"\r\n\r\n"), 1)
	}
	l.Request = func(int) []byte { return request }
	return side{p, l}
}

// nginxConf is nginx in one process, which can be stopped while others are measured, with the settings that its
// documentation names for files and nothing that checks or notes who asks.
const nginxConf = `daemon off; master_process off; pid %[1]s/pid; error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off; sendfile on; keepalive_requests 100000000; default_type image/png;
  client_body_temp_path %[1]s/t; proxy_temp_path %[1]s/t; fastcgi_temp_path %[1]s/t; uwsgi_temp_path %[1]s/t;
  scgi_temp_path %[1]s/t;
  server { listen %[2]s reuseport; root %[1]s; }
}
`

func (f file) theirs(b *bench) (side, error) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		return side{}, err
	}
	dir, err := b.workdir()
	if err != nil {
		return side{}, err
	}
	image, err := b.picture(f.picture)
	if err != nil {
		return side{}, err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return side{}, err
	}
	p := &process{dir: dir, address: free.Addr().String(), image: "/image"}
	free.Close()
	conf := filepath.Join(dir, "conf")
	if err := os.Symlink(image, filepath.Join(dir, "image")); err != nil {
		return side{}, err
	}
	if err := os.WriteFile(conf, fmt.Appendf(nil, nginxConf, dir, p.address), 0o600); err != nil {
		return side{}, err
	}
	p.cmd = exec.Command(program, "-c", conf, "-e", "stderr")
	p.cmd.Stderr = os.Stderr
	if err := p.cmd.Start(); err != nil {
		return side{}, err
	}
	for range 1000 {
		c, err := net.Dial("tcp", p.address)
		if err == nil {
			c.Close()
			return f.of(p), nil
		}
		time.Sleep(time.Millisecond)
	}
	p.stop()
	return side{}, fmt.Errorf("nginx does not listen on %s", p.address)
}
