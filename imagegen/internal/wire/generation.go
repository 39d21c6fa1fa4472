package wire

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Generation is one generation. Balance is only in the answer to a synchronous call, and Error only if
// the generation failed. Quality is the tier, as the specification calls it; the quality that was asked
// for is RequestedQuality.
type Generation struct {
	Object           string                `json:"object"`
	ID               imagegen.GenerationID `json:"id"`
	Status           imagegen.Status       `json:"status"`
	Model            string                `json:"model"`
	Prompt           string                `json:"prompt"`
	N                int                   `json:"n"`
	Size             string                `json:"size"`
	RequestedQuality imagegen.Quality      `json:"requested_quality"`
	ReferenceCount   int                   `json:"reference_count"`
	Mask             bool                  `json:"mask,omitempty"`
	Options
	AspectRatio imagegen.Ratio `json:"aspect_ratio"`
	Quality     imagegen.Tier  `json:"quality"`
	// Effort is the quality that the provider was asked for: RequestedQuality, or less where the model caps it.
	Effort      imagegen.Quality `json:"effort"`
	CreatedAt   Time             `json:"created_at"`
	CompletedAt Time             `json:"completed_at"`
	Images      []Image          `json:"images"`
	Usage       Usage            `json:"usage"`
	PollURL     string           `json:"poll_url"`
	Balance     *Balance         `json:"balance,omitempty"`
	Error       *Failure         `json:"error,omitempty"`
}

// Image is one stored image.
type Image struct {
	Object      string           `json:"object"`
	ID          imagegen.ImageID `json:"id"`
	URL         string           `json:"url"`
	CreatedAt   Time             `json:"created_at"`
	Width       int              `json:"width"`
	Height      int              `json:"height"`
	ContentType string           `json:"content_type"`

	Provenance imagegen.Provenance `json:"provenance,omitempty"`
}

// Usage is what a generation cost, and what it would if every image had come.
type Usage struct {
	Credits          imagegen.Credits `json:"credits"`
	CreditsRequested imagegen.Credits `json:"credits_requested"`
}

// List is one page of generations.
type List struct {
	Object     string                 `json:"object"`
	Data       []Generation           `json:"data"`
	HasMore    bool                   `json:"has_more"`
	NextCursor *imagegen.GenerationID `json:"next_cursor"`
}

// NewGeneration converts; addresses begin with base.
func NewGeneration(g imagegen.Generation, base string) Generation {
	w := Generation{
		Object: "image_generation", ID: g.ID, Status: g.Status, Model: g.Model, Prompt: g.Prompt, N: g.N,
		Size: g.Size.String(), RequestedQuality: g.Quality, ReferenceCount: g.ReferenceCount,
		Mask: g.Masked, Options: Options(g.Options), AspectRatio: g.Ratio, Quality: g.Tier,
		Effort: g.Effort, CreatedAt: Time(g.CreatedAt), CompletedAt: Time(g.CompletedAt),
		Images: make([]Image, len(g.Images)),
		Usage:  Usage{g.Credits, g.CreditsRequested}, PollURL: base + GenerationPath(g.ID),
	}
	for i, m := range g.Images {
		w.Images[i] = Image{Object: "image", ID: m.ID, URL: base + ImagePath(m.ID), CreatedAt: Time(m.CreatedAt),
			Width: m.Width, Height: m.Height, ContentType: m.MediaType, Provenance: m.Provenance}
	}
	if g.Failure != nil {
		w.Error = &Failure{g.Failure.Message, g.Failure.Code}
	}
	return w
}

// NewResult converts the answer to a request for images; addresses begin with base.
func NewResult(r imagegen.Result, base string) Generation {
	w := NewGeneration(r.Generation, base)
	if r.Balance != nil {
		w.Balance = NewBalance(*r.Balance)
	}
	return w
}

// Value converts back. An error means that the body is not one of this interface.
func (w Generation) Value() (imagegen.Generation, error) {
	size, err := imagegen.ParseSize(w.Size)
	g := imagegen.Generation{
		ID: w.ID, Status: w.Status, Model: w.Model, Prompt: w.Prompt, N: w.N, Size: size, Quality: w.RequestedQuality,
		ReferenceCount: w.ReferenceCount, Masked: w.Mask, Options: imagegen.Options(w.Options), Ratio: w.AspectRatio,
		Tier: w.Quality, Effort: w.Effort, CreatedAt: time.Time(w.CreatedAt), CompletedAt: time.Time(w.CompletedAt),
		Credits: w.Usage.Credits, CreditsRequested: w.Usage.CreditsRequested,
	}
	for _, m := range w.Images {
		g.Images = append(g.Images, imagegen.Image{ID: m.ID, URL: m.URL, CreatedAt: time.Time(m.CreatedAt),
			Width: m.Width, Height: m.Height, MediaType: m.ContentType, Provenance: m.Provenance})
	}
	if w.Error != nil {
		g.Failure = &imagegen.Error{Code: w.Error.Code, Message: w.Error.Message, Generation: w.ID}
	}
	return g, err
}

// Result converts back. Whether it is a replay is not in the body but in the header.
func (w Generation) Result() (imagegen.Result, error) {
	g, err := w.Value()
	r := imagegen.Result{Generation: g}
	if w.Balance != nil {
		b := w.Balance.Value()
		r.Balance = &b
	}
	return r, err
}

// Value converts back. An error means that the body is not one of this interface.
func (w List) Value() (imagegen.Page, error) {
	p := imagegen.Page{Generations: make([]imagegen.Generation, len(w.Data))}
	for i, g := range w.Data {
		var err error
		if p.Generations[i], err = g.Value(); err != nil {
			return imagegen.Page{}, err
		}
	}
	if w.NextCursor != nil {
		p.Next = *w.NextCursor
	}
	return p, nil
}

// Options are the options that a request asks for, or that a generation was asked for with. What was not
// asked for is left out. The two types convert into each other.
type Options struct {
	Format      imagegen.Format     `json:"output_format,omitempty"`
	Compression *int                `json:"output_compression,omitempty"`
	Background  imagegen.Background `json:"background,omitempty"`
	Seed        *int64              `json:"seed,omitempty"`
}
