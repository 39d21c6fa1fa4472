package openai

import (
	"cmp"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

func (a *api) generate(x *exchange) error { return a.make(x, false) }

func (a *api) edit(x *exchange) error { return a.make(x, true) }

// make answers a request for images.
func (a *api) make(x *exchange, edit bool) error {
	if err := a.site.FindBase(&x.Exchange); err != nil {
		return err
	}
	if err := checkQuery(x.Request.URL.RawQuery); err != nil {
		return err
	}
	key, err := serving.IdempotencyKey(x.Request.Header)
	if err != nil {
		return err
	}
	r, err := a.read(x, edit)
	if err != nil {
		return err
	}
	defer r.discard()
	if edit && len(r.References) == 0 {
		return invalid(fieldImage, "is required: send the image that is to be edited")
	}
	if err := x.resolve(r); err != nil {
		return err
	}
	r.IdempotencyKey = key
	r.Joining.Retry = serving.Repeats(x.Request.Header)
	if r.stream {
		return x.stream(r, edit)
	}
	result, err := x.session.Generate(x.Ctx, r.GenerateRequest)
	if err != nil {
		x.warn(r, err)
		return err
	}
	return x.deliver(result, func() error { return x.whole(r, result) })
}

// discard removes the uploads that no Generate has taken over.
func (r *request) discard() {
	imagegen.Discard(r.References...)
	imagegen.Discard(r.Mask)
}

// resolve finds the model that is meant: by an alias, or without a name where there is but one.
func (x *exchange) resolve(r *request) error {
	infos, err := x.session.Models(x.Ctx)
	if err != nil {
		return err
	}
	if r.Model == "" && len(infos) == 1 {
		r.Model = infos[0].ID
	}
	if r.Model == "" {
		return imagegen.InvalidField("model", "model is required; offered: %s", strings.Join(names(infos), ", "))
	}
	for _, m := range infos {
		if slices.Contains(m.Aliases, r.Model) {
			r.Model = m.ID
		}
	}
	return nil // what is unknown is the service's to refuse: it may repeat what was known once
}

// warn says in the header, as far as it has not been sent, that a repetition would be charged again.
func (x *exchange) warn(r *request, err error) {
	if r.IdempotencyKey == "" && serving.Costly(err) && x.Status == 0 {
		x.Header().Set("X-Should-Retry", "false")
	}
}

// deliver sends an answer, and reports whether it arrived.
func (x *exchange) deliver(result imagegen.Result, send func() error) error {
	x.Generation = result.ID
	whole := false
	gone := x.Request.Context().Err() != nil
	defer func() { x.session.Answered(result.ID, whole && !gone && x.Sent()) }() // also when the answer panics
	err := send()
	whole = err == nil
	return err
}

// head sets what the header says of a result.
func (x *exchange) head(result imagegen.Result) {
	x.Header().Set("Location", x.Base+wire.GenerationPath(result.ID))
	if result.Replayed {
		x.Header().Set("Idempotent-Replayed", "true")
	}
}

// address is where an image is read.
func (x *exchange) address(i imagegen.Image) string {
	return cmp.Or(i.URL, x.Base+wire.ImagePath(i.ID))
}
