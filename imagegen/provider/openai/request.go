package openai

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// request returns where to send a request for r, and its body: a form if there are references, else JSON, with the same
// fields (developers.openai.com/api/reference/resources/images).
func (p *Provider) request(r imagegen.ProviderRequest) (path string, body *upstream.Body, err error) {
	size, err := p.capabilities.Choose(r)
	if err != nil {
		return "", nil, err
	}
	c := p.config
	o := imagegen.Options{Format: imagegen.Format(c.OutputFormat), Compression: c.OutputCompression,
		Background: imagegen.Background(c.Background)}
	if p.capabilities.Formats != nil {
		o = override(o, r.Options)
	}
	fields := map[string]any{"model": c.Model, "prompt": r.Prompt, "n": r.N, "size": size.String(),
		"background": string(o.Background), "output_format": string(o.Format), "moderation": c.Moderation,
		"complexity": c.Complexity, "user": r.EndUser}
	if o.Compression != nil {
		fields["output_compression"] = *o.Compression
	}
	if !c.NoQuality {
		fields["quality"] = cmp.Or(c.QualityNames[r.Quality], string(r.Quality))
	}
	if len(r.References) > 0 {
		fields["input_fidelity"] = c.InputFidelity
	}
	maps.DeleteFunc(fields, func(_ string, v any) bool { return v == "" })
	if len(r.References) > 0 {
		return "/images/edits", form(fields, r), nil
	}
	body, err = new(upstream.Document).Body(fields)
	return "/images/generations", body, err
}

// override puts the options of a request in the place of those that are configured. A transparent background needs
// PNG or WebP, so it decides on the format if the two would not go together.
func override(q, o imagegen.Options) imagegen.Options {
	q.Background = cmp.Or(o.Background, q.Background)
	if o.Format != "" {
		q.Format, q.Compression = o.Format, o.Compression
	}
	// Background is configured so; the engine makes a JPEG of the PNG
	if q.Background == imagegen.BackgroundTransparent && q.Format == imagegen.FormatJPEG {
		q.Format, q.Compression = imagegen.FormatPNG, nil
	}
	if o.Background == imagegen.BackgroundTransparent && q.Format == "" {
		q.Format = imagegen.FormatPNG
	}
	return q
}

// form has the references behind the fields, in their order: the mask belongs to the first.
func form(fields map[string]any, r imagegen.ProviderRequest) *upstream.Body {
	f := upstream.NewForm()
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		f.Field(name, fmt.Sprint(fields[name]))
	}
	for _, reference := range r.References {
		f.File("image[]", reference)
	}
	if r.Mask != nil {
		f.File("mask", *r.Mask)
	}
	return f.Body()
}
