package openai

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
	"github.com/imagegend/imagegend/internal/jsonscan"
)

// readImage reads an object such as {"image_url": "data:image/png;base64,…"} and stages the image in
// it. Errors blame field, and their messages call the image which. On an error no upload is left.
func (j *jsonRequest) readImage(field, which string) (u imagegen.Reference, err error) {
	if kind, err := j.scan.Kind(); err == nil && kind != jsonscan.Compound {
		return nil, imagegen.InvalidField(field,
			"%s must be an object such as {\"image_url\": \"data:image/png;base64,…\"}; got %s", which, kind)
	}
	err = j.scan.Object(func(name string) (err error) {
		kind, err := j.scan.Kind()
		switch {
		case err != nil:
			return err
		case name == "file_id":
			return imagegen.InvalidField(field,
				"%s: file_id is not supported, since no files are stored here; send a data URI as image_url", which)
		case name != "image_url":
			return imagegen.InvalidField(field, "%s: unknown field %s; there is image_url", which, serving.Shown(name))
		case u != nil:
			return imagegen.InvalidField(field, "%s: image_url was sent twice", which)
		case kind != jsonscan.Text:
			return imagegen.InvalidField(field, "%s: image_url must be a string; got %s", which, kind)
		}
		u, err = j.stage(field, which)
		return err
	})
	if err == nil && u == nil {
		err = imagegen.InvalidField(field, "%s has no image_url", which)
	}
	if err != nil {
		imagegen.Discard(u)
		return nil, err
	}
	return u, nil
}

// stage reads the string that comes next, a data URI, and stages its bytes as they arrive: neither the
// base64 nor the image is ever whole in memory.
func (j *jsonRequest) stage(field, which string) (imagegen.Reference, error) {
	content := j.scan.Reader()
	if err := dataURI(content, field, which); err != nil {
		return nil, err
	}
	return j.exchange.stager(field)(j.exchange.Ctx, &decoder{base64.NewDecoder(base64.StdEncoding, content), field,
		which}, which)
}

// stager returns the session's Stage, with field as the one at fault in its errors: the engine does not
// know by which field an image came.
func (x *exchange) stager(field string) func(context.Context, io.Reader, string) (imagegen.Reference, error) {
	return func(ctx context.Context, r io.Reader, name string) (imagegen.Reference, error) {
		u, err := x.session.StageReference(ctx, r, name)
		if e, ok := errors.AsType[*imagegen.Error](err); ok && e.Code == imagegen.CodeInvalidRequest && e.Field == "" {
			named := *e
			named.Field = field
			return nil, &named
		}
		return u, err
	}
}

// longestHead bounds what is read of a data URI before the comma in front of its data.
const longestHead = 200

// dataURI reads a data URI up to its data. A link is refused and never fetched: a caller could name
// addresses that this machine reaches and the caller does not.
func dataURI(r io.Reader, field, which string) error {
	var head strings.Builder
	var c [1]byte
	for head.Len() < longestHead {
		_, err := io.ReadFull(r, c[:])
		if err == io.EOF || err == nil && c[0] == ',' {
			break
		}
		if err != nil {
			return err
		}
		head.WriteByte(c[0])
	}
	h := strings.ToLower(head.String())
	switch {
	case c[0] == ',' && strings.HasPrefix(h, "data:") && strings.HasSuffix(h, ";base64"):
		return nil
	case strings.HasPrefix(h, "http:"), strings.HasPrefix(h, "https:"):
		return imagegen.InvalidField(field, "%s: links are not fetched; send the image itself as a data URI", which)
	}
	return imagegen.InvalidField(field, "%s: image_url must be a data URI such as data:image/png;base64,…; got %s",
		which, serving.Shown(head.String()))
}

// decoder reads decoded base64, and names the image in the error for base64 that is not valid.
type decoder struct {
	r            io.Reader
	field, which string
}

// Read implements io.Reader.
func (d *decoder) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if _, corrupt := errors.AsType[base64.CorruptInputError](err); corrupt || errors.Is(err, io.ErrUnexpectedEOF) {
		err = imagegen.InvalidField(d.field, "%s is not valid base64, or ends early", d.which)
	}
	return n, err
}
