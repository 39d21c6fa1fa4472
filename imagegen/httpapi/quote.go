package httpapi

import (
	"mime"
	"net/http"
	"strconv"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
	"github.com/imagegend/imagegend/internal/jsonscan"
)

// referenceCount is the field that takes the place of files in a request for a price.
const referenceCount = "reference_count"

// quote answers what a request for images would cost. It takes all fields that generate takes, also
// those that do not change the price, so that the body of a request can be sent as it is.
func (a *api) quote(x *exchange) error {
	if x.Request.URL.RawQuery != "" {
		return imagegen.Invalid("fields belong in the body, not in the query")
	}
	if mediaType, _, _ := mime.ParseMediaType(x.Request.Header.Get("Content-Type")); mediaType != "application/json" {
		return imagegen.Invalid("the Content-Type must be application/json; got %s",
			serving.Shown(x.Request.Header.Get("Content-Type")))
	}
	q, err := a.readJSON(x, (*form).setQuote)
	if err != nil {
		return err
	}
	quote, err := x.session.Quote(x.Ctx, q)
	if err != nil {
		return err
	}
	return x.JSON(http.StatusOK, wire.NewQuote(quote))
}

// setQuote is setJSON for a request for a price. The references that it adds are nil: they are only
// counted.
func (f *form) setQuote(name string, v jsonscan.Value) error {
	switch {
	case isReference(name) && v.Kind != jsonscan.Null:
		return imagegen.Invalid("%s is a file: a quote needs no files, only %s", name, referenceCount)
	case name == maskName && v.Kind == jsonscan.Boolean:
		if v.Text == "true" {
			f.request.Mask = imagegen.Counted{}
		}
		return f.once(name)
	case name == maskName && v.Kind != jsonscan.Null:
		return imagegen.Invalid("%s must be true or false in a quote, which needs no files; got %s", name, v.Kind)
	case name != referenceCount:
		return f.setJSON(name, v)
	}
	if err := f.once(name); err != nil || v.Kind == jsonscan.Null {
		return err
	}
	n, err := strconv.Atoi(v.Text)
	if v.Kind != jsonscan.Number || !serving.IsInteger(v.Text) || err != nil || n < 0 || n > imagegen.MaxReferences {
		return imagegen.Invalid("%s must be an integer from 0 to %d; got %s", referenceCount, imagegen.MaxReferences,
			serving.Shown(v.Text))
	}
	f.request.References = make([]imagegen.Reference, n)
	return nil
}
