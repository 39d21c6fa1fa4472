package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// uploads is as many references as one request can bring.
const uploads = 16

// upload sends one request with references of 350 MB, and holds the time to its answer against the
// time that it takes to copy the same bytes durably.
func upload(_ context.Context, b *bench) (measured, error) {
	reference, err := b.picture(poster)
	if err != nil {
		return measured{}, err
	}
	p, err := b.service(ready.of(least))
	if err != nil {
		return measured{}, err
	}
	defer p.stop()
	before, err := p.memory("VmHWM:")
	if err != nil {
		return measured{}, err
	}
	var v []float64
	var copied, sent time.Duration
	for range b.rounds {
		if copied, err = timed(func() error { return copyDurably(p.dir, reference) }); err != nil {
			return measured{}, err
		}
		if sent, err = timed(func() error { return p.upload(reference) }); err != nil {
			return measured{}, err
		}
		v = append(v, copied.Seconds()/sent.Seconds())
	}
	after, err := p.memory("VmHWM:")
	detail := fmt.Sprintf("%.1f s to %.1f s; peak memory %d MiB before, %d MiB after", sent.Seconds(), copied.Seconds(), before>>20, after>>20)
	return measured{spread(v), detail}, err
}

func timed(f func() error) (time.Duration, error) {
	began := time.Now()
	err := f()
	return time.Since(began), err
}

// copyDurably copies a file as often as it is uploaded, and flushes each copy.
func copyDurably(dir, from string) (err error) {
	for i := range uploads {
		err = errors.Join(err, copyFile(from, filepath.Join(dir, fmt.Sprintf("copy-%d", i))))
	}
	return err
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// upload asks for a generation with the file as each of its references.
func (p *process) upload(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	var parts [][]byte // what stands before each file, and behind the last
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, value := range map[string]string{"model": model, "prompt": prompt, "size": fmt.Sprintf("%[1]dx%[1]d", least.edge)} {
		if err := w.WriteField(name, value); err != nil {
			return err
		}
	}
	for range uploads {
		if _, err := w.CreateFormFile("reference_image", "reference.png"); err != nil {
			return err
		}
		parts = append(parts, bytes.Clone(b.Bytes()))
		b.Reset()
	}
	if err := w.Close(); err != nil {
		return err
	}
	parts = append(parts, b.Bytes())
	length := info.Size() * uploads
	for _, part := range parts {
		length += int64(len(part))
	}
	return p.send(parts, file, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n",
		ourPost, p.address, p.key, w.FormDataContentType(), length))
}

// send writes a header, then the parts with the file between them, and reads the answer.
func (p *process) send(parts [][]byte, file, header string) error {
	c, err := net.Dial("tcp", p.address)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := io.WriteString(c, header); err != nil {
		return err
	}
	for i, part := range parts {
		if _, err := c.Write(part); err != nil {
			return err
		}
		if i == len(parts)-1 {
			break
		}
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		_, err = io.Copy(c, f)
		f.Close()
		if err != nil {
			return err
		}
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d: %s", answer.StatusCode, text)
	}
	return err
}
