package console

import (
	"fmt"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/filename"
)

// generationView is what generation.html is given.
type generationView struct {
	imagegen.Generation
	Shape    shape      // of the places where images will be
	Places   []struct{} // one for each image that may still come
	Pictures []picture
	Steps    []step
	Waits    bool // it can be cancelled
}

// Seen is what a page asks with whether anything has changed: the status, the images that are there, and whether
// it can be cancelled.
func (v generationView) Seen() string {
	return fmt.Sprintf("%s-%d-%t", v.Status, len(v.Images), v.Waits)
}

// Cancelled reports whether its owner cancelled it.
func (v generationView) Cancelled() bool {
	return v.Failure != nil && v.Failure.Code == imagegen.CodeCancelled
}

// Ended reports whether nothing changes any more.
func (v generationView) Ended() bool { return v.Status.Terminal() }

// Refunded is what came back of the charge.
func (v generationView) Refunded() imagegen.Credits {
	if !v.Ended() {
		return 0
	}
	return v.CreditsRequested - v.Credits
}

// Why is why there is no image; "" if it did not fail.
func (v generationView) Why() string {
	if v.Failure == nil {
		return ""
	}
	return sentence(v.Failure.Message)
}

// Missing is how many images were asked for and did not come.
func (v generationView) Missing() int { return v.N - len(v.Images) }

// Title says in the title of a tab how far it is, and what it is.
func (v generationView) Title() string { return v.state() + ": " + excerpt(v.Prompt, 60) }

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

// Said is how far it is, to whom listens to the page.
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

// live answers with what has become of a generation since the page saw it, or with nothing.
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

// named is the generation that the path names.
func named(p *page) imagegen.GenerationID { return imagegen.GenerationID(p.r.PathValue("generation")) }

// record returns the generation that the path names, if it is the person's own. ErrNotFound.
func (c *Console) record(p *page) (imagegen.Record, error) { return c.recordOf(p, named(p)) }

// recordOf returns a generation of the person's own. ErrNotFound.
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

func (c *Console) viewOf(p *page, id imagegen.GenerationID) (generationView, error) {
	r, err := c.recordOf(p, id)
	if err != nil {
		return generationView{}, err
	}
	v := generationView{Generation: r.Generation(), Shape: shapeOf(r.Size, r.Ratio), Steps: steps(r), Waits: r.Cancellable()}
	v.Pictures = pictures(v.Generation)
	if !v.Ended() {
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
	FileName string // under which a browser saves it
	Beside   bool   // the playground's form is on the page
}

// pictures are the images of a generation.
func pictures(g imagegen.Generation) (all []picture) {
	most := len(g.Images)
	if !g.Status.Terminal() {
		most = g.N // others are to come
	}
	for n, i := range g.Images {
		alt := fmt.Sprintf("Image %d of %d: %s", n+1, most, excerpt(g.Prompt, 120))
		format := strings.ToUpper(strings.TrimPrefix(i.MediaType, "image/"))
		name := fmt.Sprintf("%s-%d%s", g.ID, n+1, filename.Extension(i.MediaType))
		all = append(all, picture{Image: i, Number: n + 1, Alt: alt, Format: format, FileName: name})
	}
	return all
}

// excerpt is the beginning of a text, in one line. It reads little more of it: a prompt may be long.
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
