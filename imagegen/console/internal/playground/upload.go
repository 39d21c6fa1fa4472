package playground

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"os"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/gallery"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/internal/formdata"
)

// referenceField is the field for reference images that are files, named as in the API.
const referenceField = "reference_image"

// maskField is the field for the mask, named as in the API.
const maskField = "mask"

// upload is a form with files. The files go straight to the engine's spool, never to memory. The caller must discard
// an upload.
type upload struct {
	*form.Form
	session *engine.Session
	chosen  []chosen           // the references, in the order of the form
	mask    imagegen.Reference // nil: there is none
	sent    int                // how many references were sent as files, accepted or not
}

// chosen is one reference: a file that was sent or, if file is nil, one of the person's own images.
type chosen struct {
	file  imagegen.Reference
	image string // the name of the person's own image: see ownImage
}

// readUpload reads the form that was sent. It is multipart or, without files, may be urlencoded. What is wrong with a
// file becomes a fault of its field, so that everything else that was entered is shown again. With an error, no file
// is left in the spool.
func readUpload(p *frame.Page) (*upload, error) {
	mediaType, parameters, _ := mime.ParseMediaType(p.Request.Header.Get("Content-Type"))
	if mediaType != "multipart/form-data" {
		f, err := p.Form()
		u := &upload{Form: f, session: p.Service()}
		if err == nil {
			u.chooseImages(ownImages(f)...)
		}
		return u, err
	}
	// A browser that says how much it is about to send is refused before it has sent it.
	if p.Request.ContentLength > formdata.MaxBytes {
		return nil, tooLarge()
	}
	// Images may take longer to arrive than a page's deadlines allow. So Steady sets the deadline for reading anew
	// for each read: the form may take long, but must keep coming.
	control := http.NewResponseController(p.Writer)
	body := &formdata.Steady{Body: http.MaxBytesReader(p.Writer, p.Request.Body, formdata.MaxBytes), Control: control,
		Began: time.Now()}
	u := &upload{Form: form.Filled(), session: p.Service()}
	control.SetWriteDeadline(time.Time{}) // over HTTP/2 the deadline of the answer would also end the form
	err := p.ReadParts(body, parameters["boundary"], func(part formdata.Part) error { return u.readPart(p, part) })
	u.Values = p.Request.PostForm
	// The time for the answer begins when the form has arrived.
	control.SetWriteDeadline(time.Now().Add(frame.AnswerTime))
	if err != nil {
		u.discard()
		return nil, uploadError(err)
	}
	return u, nil
}

// tooLarge refuses a form with more bytes than all references together may have.
func tooLarge() error {
	return imagegen.Invalid("the images are too large together; send fewer, or smaller ones")
}

// uploadError is frame.FormError for a form with files. Its messages speak of images, which are most of such a form.
func uploadError(err error) error {
	if _, coded := errors.AsType[*imagegen.Error](err); coded {
		return err
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return imagegen.Invalid("the images came too slowly; send them again, or smaller ones")
	}
	return frame.FormError(err)
}

// discard removes the files from the spool, unless a Generate has taken them over.
func (u *upload) discard() {
	for _, c := range u.chosen {
		imagegen.Discard(c.file)
	}
	imagegen.Discard(u.mask)
}

// chooseImages adds the person's own images to the references, by name.
func (u *upload) chooseImages(images ...string) {
	for _, name := range images {
		u.chosen = append(u.chosen, chosen{image: name})
	}
}

// references returns the references for a Generate, in order. An image of the person's own that is gone becomes a
// fault, and is left out.
func (u *upload) references(ctx context.Context) (all []imagegen.Reference, err error) {
	for _, c := range u.chosen {
		if c.file != nil {
			all = append(all, c.file)
			continue
		}
		r, err := gallery.OwnImage(ctx, u.session, c.image)
		if errors.Is(err, imagegen.ErrNotFound) {
			u.AddFault(referenceField, "One of the images is not there any more. Remove it, or choose another.")
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// readPart reads one part of the form. An error ends the reading of the form.
func (u *upload) readPart(p *frame.Page, part formdata.Part) error {
	if part.File && (part.Name == referenceField || part.Name == maskField) {
		return u.stage(p.Context(), part)
	}
	text, err := p.Text(part)
	if err == nil && part.Name == ownImageField {
		u.chooseImages(text)
	}
	return err
}

// stage spools a reference, or the mask, of which a form has at most one. A file that is refused does not end the
// reading: the rest of the form is needed to show it again.
func (u *upload) stage(ctx context.Context, part formdata.Part) error {
	if chosen, err := part.Chosen(); err != nil || !chosen {
		return err
	}
	name := "The mask"
	if part.Name == referenceField {
		u.sent++
		name = cmp.Or(part.FileName, fmt.Sprintf("image %d", u.sent))
	}
	switch {
	// More than any model takes are not spooled; how many the chosen model takes is checked later.
	case u.sent > imagegen.MaxReferences && part.Name == referenceField:
		u.AddFault(referenceField, "More than %d images were chosen; send fewer.", imagegen.MaxReferences)
		return nil
	case u.mask != nil && part.Name == maskField:
		u.AddFault(maskField, "More than one mask was chosen; send one.")
		return nil
	}
	f, err := u.session.StageReference(ctx, part, name)
	switch e, ok := errors.AsType[*imagegen.Error](err); {
	case ok && e.Code == imagegen.CodeInvalidRequest:
		// Unlike Form.AddError: the message begins with the name of a file, which must stay as it is.
		u.AddFault(part.Name, "%s.", e.Message)
		return nil
	case err != nil:
		return err
	case part.Name == maskField:
		u.mask = f
	default:
		u.chosen = append(u.chosen, chosen{file: f})
	}
	return nil
}
