package playground

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/gallery"
)

const (
	// stripLength is how many generations the strip shows.
	stripLength = 12
	// minUsual is how many generations of a model it takes to say how long it usually takes.
	minUsual = 3
	// maxHold is how long an answer is held back at most until there is a change. Proxies cut off what is silent for a
	// minute. And after the user leaves a page, its request occupies one of the browser's connections that long.
	maxHold = 10 * time.Second
	// pollPause is how often a generation is read for images that come before its end. The end is noticed at once.
	pollPause = 500 * time.Millisecond
	// batchDelay is how long to wait for the end after another change. The browser takes about as long to update the
	// page, and the end would have to wait for that.
	batchDelay = 100 * time.Millisecond
)

// resultsView is the data of the block results.
type resultsView struct {
	Result *resultView // nil: there is no generation yet
	Strip  strip
}

// resultView is one generation beside the form.
type resultView struct {
	gallery.View
	Token   string        // of the form for a variation
	Elapsed time.Duration // from its creation until now, or until its end
	Usual   time.Duration // how long the model's generations took lately, for this person; 0: too few are known
}

// Held is how long the server may hold back its answer, in seconds, for the address that the page polls.
func (resultView) Held() int { return int(maxHold / time.Second) }

// strip is the row of the newest generations, each with a link to its result.
type strip struct {
	Tiles   []gallery.Tile
	Shown   imagegen.GenerationID // the one whose result the page shows
	Changed bool                  // a script replaces the strip on the page by this one
}

// Seen identifies what the page shows of the strip: for each tile the first letter of the status and the number of
// images. The page sends it back to ask whether anything has changed.
func (s strip) Seen() string {
	var b strings.Builder
	for _, t := range s.Tiles {
		fmt.Fprintf(&b, "%s%d.", t.Status[:1], len(t.Images))
	}
	return b.String()
}

// Moves reports whether a tile may still change. That of the result does not count, since the result is polled by
// itself.
func (s strip) Moves() bool {
	return slices.ContainsFunc(s.Tiles, func(t gallery.Tile) bool { return !t.Status.Terminal() && t.ID != s.Shown })
}

// newResults returns the newest generations, and the chosen one as the result; "": the newest is. ErrNotFound: the
// chosen one is not the person's.
func newResults(p *frame.Page, chosen imagegen.GenerationID) (v resultsView, err error) {
	// More are read than the strip shows: the others only help to tell how long a model usually takes.
	list, err := p.Service().Generations(p.Context(), imagegen.Query{Limit: gallery.PageSize})
	if err != nil {
		return v, err
	}
	if chosen == "" && len(list.Generations) > 0 {
		chosen = list.Generations[0].ID
	}
	v.Strip.Shown = chosen
	for _, g := range list.Generations[:min(stripLength, len(list.Generations))] {
		v.Strip.Tiles = append(v.Strip.Tiles, gallery.Tile{Generation: g})
	}
	if chosen != "" {
		v.Result, err = newResult(p, chosen, list.Generations)
	}
	return v, err
}

// newResult returns one of the person's generations as the result. others are generations from which to tell how long
// its model usually takes.
func newResult(p *frame.Page, id imagegen.GenerationID, others []imagegen.Generation) (*resultView, error) {
	g, err := gallery.ViewOf(p, id)
	if err != nil {
		return nil, err
	}
	v := &resultView{View: g, Token: form.NewToken(), Usual: usualDuration(others, g.Model)}
	for i := range v.Pictures {
		v.Pictures[i].Beside = true
	}
	if v.Elapsed = p.Now.Sub(g.CreatedAt); v.Ended() {
		v.Elapsed = g.CompletedAt.Sub(g.CreatedAt)
	}
	return v, nil
}

// usualDuration is the median duration of a model's successful generations; 0: there are too few, or it is too short to
// mention.
func usualDuration(gs []imagegen.Generation, model string) time.Duration {
	var took []time.Duration
	for _, g := range gs {
		if g.Model == model && g.Status == imagegen.StatusSucceeded {
			took = append(took, g.CompletedAt.Sub(g.CreatedAt))
		}
	}
	if len(took) < minUsual {
		return 0
	}
	slices.Sort(took)
	if median := took[len(took)/2]; median >= 100*time.Millisecond { // less is not noticed
		return median
	}
	return 0
}

// resultAddress is the address of the playground that shows a generation as the result.
func resultAddress(p *frame.Page, id imagegen.GenerationID) string {
	return p.Address("playground") + "?result=" + string(id) + "#result"
}

// Result answers a script with a generation as the result. If the request says what the page shows of it (seen),
// the answer is held back until that has changed, for as long as the page allows (wait) but at most maxHold; then it
// has no content. The waiting ends early if the browser hangs up or the service drains.
func Result(p *frame.Page) error {
	id, q := gallery.NamedID(p), p.Query()
	if q.Has("seen") {
		seconds, _ := strconv.Atoi(q.Get("wait"))
		// A page that only asks, without wait, gets its answer at once.
		hold := min(time.Duration(seconds)*time.Second, maxHold)
		if moved, err := awaitChange(p, id, q.Get("seen"), hold); err != nil {
			return err
		} else if !moved {
			return p.NoContent()
		}
		// If only an image has come, the end may be about to: then both are shown together.
		if _, err := p.Service().Await(p.Context(), id, batchDelay); err != nil {
			return err
		}
	}
	v, err := newResults(p, id)
	if err != nil {
		return err
	}
	v.Strip.Changed = true
	return p.RenderBlock("playground", "shown", v)
}

// awaitChange waits at most that long until a generation differs from what the page shows, and reports whether it
// does. The end of a generation wakes it at once. Changes before the end are found by reading the generation every
// pollPause.
func awaitChange(p *frame.Page, id imagegen.GenerationID, seen string, most time.Duration) (bool, error) {
	for end := time.Now().Add(most); ; {
		v, err := gallery.ViewOf(p, id)
		if err != nil || v.Seen() != seen {
			return err == nil, err
		}
		began := time.Now()
		if !began.Before(end) {
			return false, nil
		}
		g, err := p.Service().Await(p.Context(), id, pollPause)
		if err == nil {
			err = p.Still() // the wait ends with the sign-in
		}
		if err != nil {
			return false, err
		}
		// The service drains, or too many calls wait: the page asks again.
		if !g.Status.Terminal() && time.Since(began) < pollPause {
			return false, nil
		}
	}
}

// Strip answers a script with the strip if it differs from what the page shows, otherwise with no content.
func Strip(p *frame.Page) error {
	q := p.Query()
	v, err := newResults(p, imagegen.GenerationID(q.Get("result")))
	if err != nil {
		return err
	}
	if v.Strip.Seen() == q.Get("seen") {
		return p.NoContent()
	}
	return p.RenderBlock("playground", "strip", v.Strip)
}

// madeView is the data of the block made.
type madeView struct {
	resultsView
	Preview previewView
	Token   string // for the next generation: the form stays on the page
}

// showMade answers a script whose form was accepted, with the result and whatever else has changed on the page: the
// strip, the balance, and the form's token.
func showMade(p *frame.Page, q *formRequest, id imagegen.GenerationID) error {
	v, err := newResults(p, id)
	if err != nil {
		return err
	}
	v.Strip.Changed = true
	b, err := p.Service().Balance(p.Context())
	if err != nil {
		return err
	}
	return p.RenderBlock("playground", "made", madeView{v, newPreview(p, q, b, nil, ""), form.NewToken()})
}

// Cancel cancels a generation that waits. If it is too late, that is not an error: the page that the button is on, the
// generation's or the playground, shows how far the work has come.
func Cancel(p *frame.Page, r imagegen.Record) error {
	if _, err := p.Service().Cancel(p.Context(), r.ID); err != nil && !errors.Is(err, imagegen.ErrNotCancellable) {
		return err
	}
	switch {
	case p.Query().Get("in") != "playground":
		return p.Redirect("generations", string(r.ID))
	case p.Scripted(): // the address has no seen, so this answers at once
		return Result(p)
	}
	return p.RedirectTo(resultAddress(p, r.ID))
}
