package console

import (
	"fmt"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/filename"
)

// generationView is the data of generation.html.
type generationView struct {
	imagegen.Generation
	Shape    shape      // of the placeholders
	Places   []struct{} // a placeholder for each image that may still come
	Pictures []picture
	Steps    []step
	Waits    bool // it can be cancelled
}

// Seen identifies what a page shows of the generation: the status, the number of images, and whether it can be
// cancelled. A page sends it back to ask whether anything has changed.
func (v generationView) Seen() string {
	return fmt.Sprintf("%s-%d-%t", v.Status, len(v.Images), v.Waits)
}

// Cancelled reports whether its owner cancelled it.
func (v generationView) Cancelled() bool {
	return v.Failure != nil && v.Failure.Code == imagegen.CodeCancelled
}

// Ended reports whether nothing changes any more.
func (v generationView) Ended() bool { return v.Status.Terminal() }

// Refunded is the part of the charge that was returned; 0 until the generation has ended.
func (v generationView) Refunded() imagegen.Credits {
	if !v.Ended() {
		return 0
	}
	return v.CreditsRequested - v.Credits
}

// Why says why the generation failed; "" if it did not.
func (v generationView) Why() string {
	if v.Failure == nil {
		return ""
	}
	return sentence(v.Failure.Message)
}

// Missing is how many of the requested images are not there, or not yet.
func (v generationView) Missing() int { return v.N - len(v.Images) }

// Title is the title of the browser's tab: how far the generation is, and its prompt.
func (v generationView) Title() string { return v.state() + ": " + excerpt(v.Prompt, 60) }

// state says in a few words how far the generation is.
func (v generationView) state() string {
	switch {
	case v.Status == imagegen.StatusQueued:
		return "Queued"
	case v.Status == imagegen.StatusProcessing:
		if len(v.Images) > 0 {
			return fmt.Sprintf("%d of %d are there", len(v.Images), v.N)
		}
		return "In the making"
	case v.Cancelled():
		return "Cancelled"
	case v.Status == imagegen.StatusFailed:
		return "Failed"
	case v.Missing() > 0:
		return fmt.Sprintf("%d of %d came", len(v.Images), v.N)
	}
	return "Ready"
}

// Said is how far the generation is, as a sentence for screen readers and notifications.
func (v generationView) Said() string {
	switch {
	case v.Status == imagegen.StatusQueued:
		return "The generation is waiting for its turn."
	case v.Status == imagegen.StatusProcessing && len(v.Images) > 0:
		return fmt.Sprintf("%d of %d images are there.", len(v.Images), v.N)
	case v.Status == imagegen.StatusProcessing:
		return "The images are being made."
	case v.Cancelled():
		return "The generation was cancelled. The credits were returned."
	case v.Status == imagegen.StatusFailed:
		return "The generation has failed. The credits were returned."
	}
	return count(len(v.Images), "image has", "images have") + " arrived."
}

func (c *Console) generation(p *page) error {
	v, err := c.generationOf(p)
	if err != nil {
		return err
	}
	return p.render("generation", v)
}

// live answers a page that polls: with the generation as it is if it differs from what the page shows, otherwise with
// no content.
func (c *Console) live(p *page) error {
	v, err := c.generationOf(p)
	if err != nil {
		return err
	}
	if v.Seen() == p.r.URL.Query().Get("seen") {
		return p.unchanged()
	}
	return p.fragment("generation", "progress", v)
}

// named is the identifier of the generation that the path names. Nothing is known about it yet.
func named(p *page) imagegen.GenerationID { return imagegen.GenerationID(p.r.PathValue("generation")) }

// record returns the generation that the path names. ErrNotFound: there is none, or it is another user's.
func (c *Console) record(p *page) (imagegen.Record, error) { return c.recordOf(p, named(p)) }

// recordOf returns one of the person's generations. ErrNotFound as for record. The log of the request names a
// generation only once it is known to be the person's.
func (c *Console) recordOf(p *page, id imagegen.GenerationID) (imagegen.Record, error) {
	r, err := p.service().Record(p.context(), id)
	if err != nil {
		return imagegen.Record{}, err
	}
	if id == named(p) {
		p.about = id
	}
	return r, nil
}

func (c *Console) generationOf(p *page) (generationView, error) { return c.viewOf(p, named(p)) }

// viewOf returns one of the person's generations for a page. ErrNotFound as for record.
func (c *Console) viewOf(p *page, id imagegen.GenerationID) (generationView, error) {
	r, err := c.recordOf(p, id)
	if err != nil {
		return generationView{}, err
	}
	v := generationView{Generation: r.Generation(), Shape: shapeOf(r.Size, r.Ratio), Steps: steps(r), Waits: r.Cancellable()}
	v.Pictures = pictures(v.Generation)
	if !v.Ended() { // afterwards no more images come
		v.Places = make([]struct{}, v.Missing())
	}
	return v, nil
}

// picture is one image on the page.
type picture struct {
	imagegen.Image
	Number   int // from 1
	Alt      string
	Format   string
	FileName string // the name under which a browser saves it
	Beside   bool   // the playground's form is on the same page, so that its button can add the image there
}

// pictures returns the images of a generation for templates.
func pictures(g imagegen.Generation) (all []picture) {
	most := len(g.Images)
	if !g.Status.Terminal() {
		most = g.N // more may come
	}
	for n, i := range g.Images {
		alt := fmt.Sprintf("Image %d of %d: %s", n+1, most, excerpt(g.Prompt, 120))
		format := strings.ToUpper(strings.TrimPrefix(i.MediaType, "image/"))
		name := fmt.Sprintf("%s-%d%s", g.ID, n+1, filename.Extension(i.MediaType))
		all = append(all, picture{Image: i, Number: n + 1, Alt: alt, Format: format, FileName: name})
	}
	return all
}

// excerpt is the beginning of a text as one line of at most most code points, with … if something is left out. It
// reads no more of the text than that, since a prompt may be long.
func excerpt(s string, most int) string {
	var line []rune
	for word := range strings.FieldsSeq(s) {
		if len(line) > 0 {
			line = append(line, ' ')
		}
		for _, r := range word {
			if len(line) >= most {
				return strings.TrimSpace(string(line)) + "…"
			}
			line = append(line, r)
		}
	}
	return string(line)
}
