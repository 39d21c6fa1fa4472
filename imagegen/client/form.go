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
// all is written or the body is closed, which package http does in any case. If a reference fails,
// stop is called with that error, so that it is returned and not what it does to the request.
func streamForm(ctx context.Context, q imagegen.GenerateRequest, stop context.CancelCauseFunc) (contentType string,
	body io.Reader) {
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

// writeForm writes all fields and then the files, so that the service can refuse a field before a file is
// sent. It returns an *imagegen.Error if a reference is at fault.
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
	if r.MaxCredits != 0 {
		fields = append(fields, [2]string{"max_credits", strconv.FormatInt(int64(r.MaxCredits), 10)})
	}
	for _, f := range append(fields, optionFields(r.Options)...) {
		if err := form.WriteField(f[0], f[1]); err != nil {
			return err
		}
	}
	for i, reference := range q.References {
		f := file{reference, "reference_image", fmt.Sprintf("reference image %d", i+1), fmt.Sprintf("reference-%d",
			i+1)}
		if err := f.write(ctx, form); err != nil {
			return err
		}
	}
	if q.Mask != nil {
		if err := (file{q.Mask, "mask", "mask", "mask"}).write(ctx, form); err != nil {
			return err
		}
	}
	return form.Close()
}

// optionFields returns the options that are asked for.
func optionFields(o wire.Options) (fields [][2]string) {
	if o.Format != "" {
		fields = append(fields, [2]string{"output_format", string(o.Format)})
	}
	if o.Compression != nil {
		fields = append(fields, [2]string{"output_compression", strconv.Itoa(*o.Compression)})
	}
	if o.Background != "" {
		fields = append(fields, [2]string{"background", string(o.Background)})
	}
	if o.Seed != nil {
		fields = append(fields, [2]string{"seed", strconv.FormatInt(*o.Seed, 10)})
	}
	return fields
}

// file is one file of a form.
type file struct {
	imagegen.Reference
	field   string // the name of the part
	what    string // how messages call it
	unnamed string // the file name to send if the reference has none
}

func (f file) write(ctx context.Context, form *multipart.Writer) error {
	from, err := f.Open(ctx)
	if err != nil {
		return imagegen.Invalid("%s cannot be opened: %v", f.what, err)
	}
	defer from.Close()
	part, err := form.CreateFormFile(f.field, f.name())
	if err != nil {
		return err
	}
	in := &noted{Reader: from}
	_, err = io.Copy(part, in)
	if in.err != nil {
		return imagegen.Invalid("%s cannot be read: %v", f.what, in.err)
	}
	return err
}

// name is the file name to send, by which the service calls the file in messages: that of a
// reference that is a Namer, without its directories, which are private.
func (f file) name() string {
	file, ok := f.Reference.(imagegen.Namer)
	if !ok || file.Name() == "" {
		return f.unnamed
	}
	return strings.ToValidUTF8(filepath.Base(file.Name()), "?")
}

// noted keeps the error of a reader apart from that of the writer to which it is copied.
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
