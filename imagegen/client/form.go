package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// streamForm returns a body that a goroutine writes while it is being sent. The goroutine ends when
// the body is closed, which package http does in any case. stop is told of a reference that fails.
func streamForm(ctx context.Context, q imagegen.GenerateRequest, stop context.CancelCauseFunc) (contentType string, body io.Reader) {
	from, to := io.Pipe()
	form := multipart.NewWriter(to)
	go func() {
		err := writeForm(ctx, form, q)
		if unread, ok := errors.AsType[*imagegen.Error](err); ok {
			stop(unread)
		}
		to.CloseWithError(err)
	}()
	return form.FormDataContentType(), from
}

// writeForm returns an *imagegen.Error if a reference is at fault.
func writeForm(ctx context.Context, form *multipart.Writer, q imagegen.GenerateRequest) error {
	r := wire.NewRequest(q)
	fields := [][2]string{{"model", r.Model}, {"prompt", r.Prompt}, {"size", r.Size}}
	if r.Quality != "" {
		fields = append(fields, [2]string{"quality", r.Quality})
	}
	if r.N != 0 {
		fields = append(fields, [2]string{"n", strconv.Itoa(r.N)})
	}
	if r.Async {
		fields = append(fields, [2]string{"async", "true"})
	}
	for _, f := range fields {
		if err := form.WriteField(f[0], f[1]); err != nil {
			return err
		}
	}
	for i, reference := range q.References {
		if err := writeReference(ctx, form, reference, i+1); err != nil {
			return err
		}
	}
	return form.Close()
}

func writeReference(ctx context.Context, form *multipart.Writer, reference imagegen.Reference, number int) error {
	f, err := reference.Open(ctx)
	if err != nil {
		return imagegen.Invalid("reference image %d cannot be opened: %v", number, err)
	}
	defer f.Close()
	part, err := form.CreateFormFile("reference_image", fileName(reference, number))
	if err != nil {
		return err
	}
	in := &noted{Reader: f}
	_, err = io.Copy(part, in)
	if in.err != nil {
		return imagegen.Invalid("reference image %d cannot be read: %v", number, in.err)
	}
	return err
}

// fileName is what the service calls a reference in its messages: the name of the file, if the
// reference has one as an *os.File has, without the directories, which are nobody else's business.
func fileName(reference imagegen.Reference, number int) string {
	file, ok := reference.(interface{ Name() string })
	if !ok || file.Name() == "" {
		return fmt.Sprintf("reference-%d", number)
	}
	return strings.ToValidUTF8(filepath.Base(file.Name()), "?")
}

// noted keeps the error of a reader apart from that of the writer it is copied to.
type noted struct {
	io.Reader
	err error
}

func (n *noted) Read(p []byte) (int, error) {
	got, err := n.Reader.Read(p)
	if err != nil && err != io.EOF {
		n.err = err
	}
	return got, err
}
