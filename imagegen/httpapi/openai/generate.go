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

// make answers a request for images: from a prompt alone or, with edit, from images too. Query and
// idempotency key are checked before the body is read: a request that cannot succeed need not send
// its files. Whatever happens, uploads that Generate has not taken over are removed.
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
	r.Join.Retry = serving.Repeats(x.Request.Header)
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

// resolve finds the model that a request means: by its name, by an alias or, without a name, if there is
// only one. The record then has the name and never the alias, so aliases can be moved at any time.
func (x *exchange) resolve(r *request) error {
	infos, err := x.session.Offers(x.Ctx)
	if err != nil {
		return err
	}
	if r.Model == "" && len(infos) == 1 {
		r.Model = infos[0].ID
	}
	if r.Model == "" {
		return imagegen.InvalidField("model", "model is required; offered: %s",
			cmp.Or(strings.Join(names(infos), ", "), "none at present"))
	}
	for _, m := range infos {
		if slices.Contains(m.Aliases, r.Model) {
			r.Model = m.ID
		}
	}
	return nil // the service refuses an unknown model, unless the call repeats one from when it was known
}

// warn says in the header, if that was not sent yet, that a repetition would be charged again: OpenAI's
// clients honour X-Should-Retry. With an idempotency key a repetition is safe.
func (x *exchange) warn(r *request, err error) {
	if r.IdempotencyKey == "" && serving.Costly(err) && x.Status == 0 {
		x.Header().Set("X-Should-Retry", "false")
	}
}

// deliver sends an answer, and tells the session whether it arrived. A caller who was gone before the
// answer began has not received it, even if it could be written.
func (x *exchange) deliver(result imagegen.Result, send func() error) error {
	x.Generation = result.ID
	whole := false
	gone := x.Request.Context().Err() != nil
	defer func() { x.session.ReportDelivery(result.ID, whole && !gone && x.Sent()) }() // also when the answer panics
	err := send()
	whole = err == nil
	return err
}

// head sets what the header says about a result.
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
