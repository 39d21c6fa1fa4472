package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"path/filepath"
	"slices"
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
	body, err := json.Marshal(wire.NewRequest(q))
	if err != nil {
		return err
	}
	var fields map[string]any // those of the JSON, which have the same names
	in := json.NewDecoder(bytes.NewReader(body))
	in.UseNumber()
	if err := in.Decode(&fields); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if err := form.WriteField(name, fmt.Sprint(fields[name])); err != nil {
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
