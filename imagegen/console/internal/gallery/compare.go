package gallery

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// compareView is the data of compare.html.
type compareView struct {
	A, B    *compared   // B nil: it is not chosen yet
	Differs []aspect    // in which the two differ
	Same    []aspect    // in which they agree
	Others  []candidate // for B, if it is not chosen yet
	Pager   frame.Pager // of the candidates
}

// compared is one of the two images.
type compared struct {
	Picture
	Of imagegen.Generation
}

// aspect is a property of both images, such as the model, with its two values.
type aspect struct{ Name, A, B string }

// candidate is an image that can be compared with A.
type candidate struct {
	Picture
	Prompt string
}

// Compare shows two of the person's images side by side or, if only one is given, images to compare it with.
func Compare(p *frame.Page) error {
	q := p.Query()
	a, err := comparedImage(p, imagegen.ImageID(q.Get("a")))
	if err != nil {
		return err
	}
	v := compareView{A: a}
	if q.Get("b") == "" {
		err = v.listOthers(p, imagegen.GenerationID(q.Get("after")))
	} else if v.B, err = comparedImage(p, imagegen.ImageID(q.Get("b"))); err == nil {
		for _, a := range aspects(v.A.Of, v.B.Of) {
			if a.A == a.B {
				v.Same = append(v.Same, a)
			} else {
				v.Differs = append(v.Differs, a)
			}
		}
	}
	if err != nil {
		return err
	}
	return p.Render("compare", v)
}

// comparedImage returns one of the person's images. ErrNotFound.
func comparedImage(p *frame.Page, id imagegen.ImageID) (*compared, error) {
	// An image is found by its generation, whose owner the service checks; an identifier without one finds nothing.
	g, _ := id.Generation()
	of, err := p.Service().Generation(p.Context(), g)
	if err != nil {
		return nil, err
	}
	all := Pictures(of)
	i := slices.IndexFunc(all, func(i Picture) bool { return i.ID == id })
	if i < 0 {
		return nil, imagegen.ErrNotFound
	}
	return &compared{all[i], of}, nil
}

// listOthers lists a page of images that A can be compared with: first the others of its own generation, then those of
// all other generations, newest first.
func (v *compareView) listOthers(p *frame.Page, after imagegen.GenerationID) error {
	list, err := p.Service().Generations(p.Context(),
		imagegen.Query{Limit: PageSize, After: after, Status: imagegen.StatusSucceeded})
	if err != nil {
		return err
	}
	if after == "" {
		v.appendOthers(v.A.Of)
	}
	for _, g := range list.Generations {
		if g.ID != v.A.Of.ID {
			v.appendOthers(g)
		}
	}
	v.Pager = p.Pager("after", string(list.Next))
	return nil
}

// appendOthers lists the images of a generation, except A itself.
func (v *compareView) appendOthers(g imagegen.Generation) {
	for _, i := range Pictures(g) {
		if i.ID != v.A.ID {
			v.Others = append(v.Others, candidate{i, g.Prompt})
		}
	}
}

// aspects are the properties by which two generations are compared, in the order of the page.
func aspects(a, b imagegen.Generation) []aspect {
	return []aspect{
		{"Prompt", a.Prompt, b.Prompt},
		{"Model", a.Model, b.Model},
		{"Size", sizeOf(a), sizeOf(b)},
		{"Ratio", string(a.Ratio), string(b.Ratio)},
		{"Resolution", string(a.Tier), string(b.Tier)},
		{"Quality", string(a.Quality), string(b.Quality)},
		{"References", strconv.Itoa(a.ReferenceCount), strconv.Itoa(b.ReferenceCount)},
		{"Created", format.Moment(a.CreatedAt), format.Moment(b.CreatedAt)},
	}
}

// sizeOf formats the requested size of a generation.
func sizeOf(g imagegen.Generation) string {
	if g.Size.Auto() {
		return "auto"
	}
	return fmt.Sprintf("%d × %d", g.Size.Width, g.Size.Height)
}
