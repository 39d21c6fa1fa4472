package gallery

import (
	"fmt"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/steps"
	"github.com/imagegend/imagegend/internal/filename"
)

// View is the data of generation.html, and of a generation in the playground.
type View struct {
	imagegen.Generation
	Shape    Outline    // of the placeholders
	Places   []struct{} // a placeholder for each image that may still come
	Pictures []Picture
	Steps    []steps.Step
	Waits    bool // it can be cancelled
}

// Seen identifies what a page shows of the generation: the status, the number of images, and whether it can be
// cancelled. A page sends it back to ask whether anything has changed.
func (v View) Seen() string {
	return fmt.Sprintf("%s-%d-%t", v.Status, len(v.Images), v.Waits)
}

// Cancelled reports whether its owner cancelled it.
func (v View) Cancelled() bool {
	return v.Failure != nil && v.Failure.Code == imagegen.CodeCancelled
}

// Ended reports whether nothing changes any more.
func (v View) Ended() bool { return v.Status.Terminal() }

// Refunded is the part of the charge that was returned; 0 until the generation has ended.
func (v View) Refunded() imagegen.Credits {
	if !v.Ended() {
		return 0
	}
	return v.CreditsRequested - v.Credits
}

// Why says why the generation failed; "" if it did not.
func (v View) Why() string { return why(v.Generation) }

func why(g imagegen.Generation) string {
	if g.Failure == nil {
		return ""
	}
	return format.Sentence(g.Failure.Message)
}

// Missing is how many of the requested images are not there, or not yet.
func (v View) Missing() int { return v.N - len(v.Images) }

// Title is the title of the browser's tab: how far the generation is, and its prompt.
func (v View) Title() string {
	state, _ := v.progress()
	return state + ": " + format.Excerpt(v.Prompt, 60)
}

// Said is how far the generation is, for screen readers and notifications.
func (v View) Said() string {
	_, said := v.progress()
	return said
}

// progress says how far the generation is: in a few words, and as a sentence.
func (v View) progress() (state, said string) {
	there := fmt.Sprintf("%d of %d", len(v.Images), v.N)
	switch {
	case v.Status == imagegen.StatusQueued:
		return "Queued", "The generation is waiting for its turn."
	case v.Status == imagegen.StatusProcessing && len(v.Images) > 0:
		return there + " are there", there + " images are there."
	case v.Status == imagegen.StatusProcessing:
		return "In the making", "The images are being made."
	case v.Cancelled():
		return "Cancelled", "The generation was cancelled. The credits were returned."
	case v.Status == imagegen.StatusFailed:
		return "Failed", "The generation has failed. The credits were returned."
	}
	if state = "Ready"; v.Missing() > 0 {
		state = there + " came"
	}
	return state, format.Count(len(v.Images), "image has", "images have") + " arrived."
}

// Generation shows one of the person's generations.
func Generation(p *frame.Page) error {
	v, err := ViewOf(p, NamedID(p))
	if err != nil {
		return err
	}
	return p.Render("generation", v)
}

// Live answers a page that polls: with the generation as it is if it differs from what the page shows, otherwise with
// no content.
func Live(p *frame.Page) error {
	v, err := ViewOf(p, NamedID(p))
	if err != nil {
		return err
	}
	if v.Seen() == p.Query().Get("seen") {
		return p.NoContent()
	}
	return p.RenderBlock("generation", "progress", v)
}

// NamedID is the identifier of the generation that the path names. Nothing is known about it yet.
func NamedID(p *frame.Page) imagegen.GenerationID {
	return imagegen.GenerationID(p.Request.PathValue("generation"))
}

// WithRecord returns a handler that finds the person's generation that the path names, for another. ErrNotFound: there
// is none, or it is another user's.
func WithRecord(h func(p *frame.Page, r imagegen.Record) error) frame.Handler {
	return func(p *frame.Page) error {
		r, err := RecordOf(p, NamedID(p))
		if err != nil {
			return err
		}
		return h(p, r)
	}
}

// RecordOf returns one of the person's generations. ErrNotFound as for WithRecord. The log of the request names a
// generation only once it is known to be the person's.
func RecordOf(p *frame.Page, id imagegen.GenerationID) (imagegen.Record, error) {
	r, err := p.Service().Record(p.Context(), id)
	if err != nil {
		return imagegen.Record{}, err
	}
	if id == NamedID(p) {
		p.Generation = id
	}
	return r, nil
}

// ViewOf returns one of the person's generations for a page. ErrNotFound as for WithRecord.
func ViewOf(p *frame.Page, id imagegen.GenerationID) (View, error) {
	r, err := RecordOf(p, id)
	if err != nil {
		return View{}, err
	}
	v := View{Generation: r.Generation(), Shape: OutlineOf(r.Size, r.Ratio), Steps: steps.Of(r), Waits: r.Cancellable()}
	v.Pictures = Pictures(v.Generation)
	if !v.Ended() { // afterwards no more images come
		v.Places = make([]struct{}, v.Missing())
	}
	return v, nil
}

// Picture is one image on the page.
type Picture struct {
	imagegen.Image
	Number   int // from 1
	Alt      string
	Format   string
	FileName string // the name under which a browser saves it
	Beside   bool   // the playground's form is on the same page, so that its button can add the image there
}

// Pictures returns the images of a generation for templates.
func Pictures(g imagegen.Generation) (all []Picture) {
	most := len(g.Images)
	if !g.Status.Terminal() {
		most = g.N // more may come
	}
	for n, i := range g.Images {
		alt := fmt.Sprintf("Image %d of %d: %s", n+1, most, format.Excerpt(g.Prompt, 120))
		format := strings.ToUpper(strings.TrimPrefix(i.MediaType, "image/"))
		name := fmt.Sprintf("%s-%d%s", filename.OfPrompt(g.Prompt), n+1, filename.Extension(i.MediaType))
		all = append(all, Picture{Image: i, Number: n + 1, Alt: alt, Format: format, FileName: name})
	}
	return all
}
