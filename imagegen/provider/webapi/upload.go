package webapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// Upload says how a reference or a mask is stored at the API before images are asked for. The API answers with an
// address, which the request then contains. How long the file is kept is up to the API.
type Upload struct {
	// Path is where a form with the file is sent, by POST. "": nothing is stored.
	Path string
	// Field is the name of the field with the file. "": file.
	Field string
	// Address is the path of the address in the answer, such as data.url, written as in
	// Config.Images. Required with a Path.
	Address string
}

func (u Upload) validateUpload() error {
	switch {
	case (u.Path == "") != (u.Address == ""), u.Path == "" && u.Field != "":
		return errors.New("the option Upload needs a Path and an Address")
	case u.Path != "" && u.Path[0] != '/':
		return fmt.Errorf("the option Upload has the Path %q; want such as /files", u.Path)
	}
	return nil
}

// link is a reference that is stored at the API.
type link string

// Open is never called: only the address is sent.
func (link) Open(context.Context) (io.ReadCloser, error) { return nil, errors.ErrUnsupported }

// address is the address of a reference that uploadAll has replaced.
func address(r imagegen.ProviderReference) string { return string(r.Reference.(link)) }

// uploadAll stores the references and the mask of r at the API, and replaces them in r by links.
func (p *Provider) uploadAll(ctx context.Context, r *imagegen.ProviderRequest) (err error) {
	if r.References, err = p.upload(ctx, r.References); err != nil || r.Mask == nil {
		return err
	}
	masks, err := p.upload(ctx, []imagegen.ProviderReference{*r.Mask})
	if err == nil {
		r.Mask = &masks[0]
	}
	return err
}

// upload stores references one after the other, and returns links to them. An error that would be of ClassUnknown
// becomes one of ClassUnavailable: no image was asked for yet, so none can have been made or charged.
func (p *Provider) upload(ctx context.Context, references []imagegen.ProviderReference) ([]imagegen.ProviderReference,
	error) {
	links := make([]imagegen.ProviderReference, len(references))
	for i, r := range references {
		at, err := p.uploadOne(ctx, r)
		if e, ok := errors.AsType[*imagegen.ProviderError](err); ok && e.Class == imagegen.ClassUnknown {
			return nil, &imagegen.ProviderError{Class: imagegen.ClassUnavailable,
				Message: "a reference image could not be stored at the upstream", Err: err}
		}
		if err != nil {
			return nil, err
		}
		links[i] = r
		links[i].Reference = at
	}
	return links, nil
}

// uploadOne stores one reference. An answer without an address is an error.
func (p *Provider) uploadOne(ctx context.Context, r imagegen.ProviderReference) (link, error) {
	f := upstream.NewForm()
	f.File(p.config.Upload.Field, r)
	response, err := p.client.Do(ctx, http.MethodPost, p.config.Upload.Path, f.Body())
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var at string
	missing, err := upstream.Each(ctx, response.Body, upstream.Strings, func(s upstream.String) (more bool, err error) {
		if s.Path == p.config.Upload.Address {
			at, err = s.Text()
		}
		return at == "", err
	})
	if missing {
		err = upstream.Imageless(response.Body, "it names no address of the reference")
	}
	return link(at), err
}
