package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
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
	detail := fmt.Sprintf("%.1f s to %.1f s; peak memory %d MiB before, %d MiB after", sent.Seconds(), copied.Seconds(),
		before>>20, after>>20)
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
		out, failed := os.Create(filepath.Join(dir, fmt.Sprintf("copy-%d", i)))
		if failed != nil {
			return failed
		}
		err = errors.Join(err, copyFile(out, from), out.Sync(), out.Close())
	}
	return err
}

func copyFile(to io.Writer, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.Copy(to, in)
	return err
}

// upload asks for a generation with the file as each of its references.
func (p *process) upload(file string) error {
	r, w := io.Pipe()
	form := multipart.NewWriter(w)
	go func() { w.CloseWithError(fill(form, file)) }()
	_, err := p.post(form.FormDataContentType(), r)
	return err
}

func fill(form *multipart.Writer, file string) error {
	for name, value := range map[string]string{"model": model, "prompt": prompt, "size": fmt.Sprintf("%[1]dx%[1]d",
		least.edge)} {
		if err := form.WriteField(name, value); err != nil {
			return err
		}
	}
	for range uploads {
		part, err := form.CreateFormFile("reference_image", "reference.png")
		if err != nil {
			return err
		}
		if err := copyFile(part, file); err != nil {
			return err
		}
	}
	return form.Close()
}
