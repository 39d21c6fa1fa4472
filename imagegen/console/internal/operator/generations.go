package operator

import (
	"errors"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// generationsView is the data of user-generations.html.
type generationsView struct {
	User     imagegen.User
	Status   imagegen.Status // "": all
	Statuses []imagegen.Status
	Lines    []generationLine
	Pager    frame.Pager
}

// generationLine is a generation as an operator sees it: what became of it and what it cost. Its Prompt and Images
// are empty, so that no template can show them.
type generationLine struct {
	imagegen.Generation
	Delivered int    // how many images
	Failure   string // what the provider said, which the owner does not see; "": nothing, or it did not fail
}

// Generations lists a user's generations, newest first.
func Generations(p *frame.Page, u imagegen.User) error {
	q := p.Query()
	v := generationsView{User: u, Status: imagegen.Status(q.Get("status")), Statuses: imagegen.Statuses()}
	if !slices.Contains(v.Statuses, v.Status) {
		v.Status = ""
	}
	list, err := p.Engine.As(u.ID).Generations(p.Context(),
		imagegen.Query{Status: v.Status, After: imagegen.GenerationID(q.Get("after"))})
	if err != nil {
		return err
	}
	for _, g := range list.Generations {
		l, err := newGenerationLine(p, g)
		if err != nil {
			return err
		}
		v.Lines = append(v.Lines, l)
	}
	v.Pager = p.Pager("after", string(list.Next))
	return p.Render("user-generations", v)
}

// newGenerationLine returns the line of a generation. Only for a failed one does it read the record, which has the
// provider's message.
func newGenerationLine(p *frame.Page, g imagegen.Generation) (generationLine, error) {
	l := generationLine{Generation: g, Delivered: len(g.Images)}
	l.Prompt, l.Images = "", nil // whatever a template does, it cannot show them
	if g.Status != imagegen.StatusFailed {
		return l, nil
	}
	r, err := p.Engine.Record(p.Context(), g.ID)
	if errors.Is(err, imagegen.ErrNotFound) { // erased since it was listed
		return l, nil
	}
	if err == nil && r.Failure != nil {
		l.Failure = r.Failure.Detail
	}
	return l, err
}
