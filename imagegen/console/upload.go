package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/internal/formdata"
)

// referenceField is the name of the files in the playground's form, as in the API.
const referenceField = "reference_image"

// maskField is the name of the mask's file, as in the API.
const maskField = "mask"

// upload is a form with files, which go straight to the engine's spool.
type upload struct {
	*form
	session *engine.Session
	chosen  []chosen // in the order of the form
	mask    imagegen.Reference
	sent    int // references that are files, whether they were taken or not
	text    int64
}

// chosen is one reference: a file that was sent, or one of the person's own images.
type chosen struct {
	file  imagegen.Reference
	image string // its name
}

// upload reads the form that was sent, with its files or, as a form without any can be, urlencoded.
// What is wrong with a file stands beside its field. The caller discards the files.
func (p *page) upload() (*upload, error) {
	mediaType, parameters, _ := mime.ParseMediaType(p.r.Header.Get("Content-Type"))
	if mediaType != "multipart/form-data" {
		f, err := p.form()
		u := &upload{form: f, session: p.service()}
		if err == nil {
			u.choose(f.images()...)
		}
		return u, err
	}
	if p.r.ContentLength > formdata.MaxBytes {
		return nil, tooLarge()
	}
	control := http.NewResponseController(p.w)
	body := &formdata.Steady{Body: http.MaxBytesReader(p.w, p.r.Body, formdata.MaxBytes), Control: control, Began: time.Now()}
	u := &upload{form: &form{values: url.Values{}}, session: p.service(), text: formdata.MaxText}
	control.SetWriteDeadline(time.Time{}) // over HTTP/2 that of the answer would end the form as well
	err := formdata.Read(body, parameters["boundary"], func(part formdata.Part) error { return u.take(p.context(), part) })
	control.SetWriteDeadline(time.Now().Add(answerTime)) // it may have taken longer to arrive
	if err != nil {
		u.discard()
		return nil, unreadableFiles(err)
	}
	return u, nil
}

func tooLarge() error {
	return imagegen.Invalid("the images are too large together; send fewer, or smaller ones")
}

// unreadableFiles is unreadable of a form that may have files, which are the most of it.
func unreadableFiles(err error) error {
	if _, coded := errors.AsType[*imagegen.Error](err); coded {
		return err
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return imagegen.Invalid("the images came too slowly; send them again, or smaller ones")
	}
	return unreadable(err)
}

// discard removes the files, unless a Generate has taken them over.
func (u *upload) discard() {
	for _, c := range u.chosen {
		imagegen.Discard(c.file)
	}
	imagegen.Discard(u.mask)
}

// choose adds images of the person's own.
func (u *upload) choose(images ...string) {
	for _, name := range images {
		u.chosen = append(u.chosen, chosen{image: name})
	}
}

// references are what was chosen, for a Generate. An image that is not there is told of beside the field.
func (u *upload) references(ctx context.Context) (all []imagegen.Reference, err error) {
	for _, c := range u.chosen {
		if c.file != nil {
			all = append(all, c.file)
			continue
		}
		r, err := ownImage(ctx, u.session, c.image)
		if errors.Is(err, imagegen.ErrNotFound) {
			u.addFault(referenceField, "One of the images is not there any more. Remove it, or choose another.")
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func (u *upload) take(ctx context.Context, part formdata.Part) error {
	if part.Name == referenceField && part.File {
		return u.takeFile(ctx, part)
	}
	if part.Name == maskField && part.File {
		return u.takeMask(ctx, part)
	}
	b, err := io.ReadAll(io.LimitReader(part, u.text+1))
	if err != nil {
		return err
	}
	if u.text -= int64(len(b)); u.text < 0 {
		return imagegen.Invalid("the text of the form is larger than %d bytes", formdata.MaxText)
	}
	if !utf8.Valid(b) {
		return imagegen.Invalid("%s is not valid UTF-8", strconv.Quote(part.Name))
	}
	if part.Name == ownImageField {
		u.choose(string(b))
	}
	u.values.Add(part.Name, string(b))
	return nil
}

// takeFile spools one file. One that is refused does not end the form: what else was entered is shown
// again, and so it is read.
func (u *upload) takeFile(ctx context.Context, part formdata.Part) error {
	if chosen, err := part.Chosen(); err != nil || !chosen {
		return err
	}
	if u.sent++; u.sent > imagegen.MaxReferences {
		u.addFault(referenceField, "More than %d images were chosen; send fewer.", imagegen.MaxReferences)
		return nil
	}
	name := part.FileName
	if name == "" {
		name = fmt.Sprintf("image %d", u.sent)
	}
	f, err := u.session.Stage(ctx, part, name)
	if err != nil {
		return u.refuseFile(referenceField, err)
	}
	u.chosen = append(u.chosen, chosen{file: f})
	return nil
}

// takeMask spools the mask, of which there is one.
func (u *upload) takeMask(ctx context.Context, part formdata.Part) error {
	if chosen, err := part.Chosen(); err != nil || !chosen {
		return err
	}
	if u.mask != nil {
		u.addFault(maskField, "More than one mask was chosen; send one.")
		return nil
	}
	f, err := u.session.Stage(ctx, part, "The mask")
	if err != nil {
		return u.refuseFile(maskField, err)
	}
	u.mask = f
	return nil
}

// refuseFile is form.refuse without a capital letter for a file's name.
func (u *upload) refuseFile(field string, err error) error {
	e, ok := errors.AsType[*imagegen.Error](err)
	if !ok || e.Code != imagegen.CodeInvalidRequest {
		return err
	}
	u.addFault(field, "%s.", e.Message)
	return nil
}
