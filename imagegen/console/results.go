package console

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

const (
	// stripLength is how many generations the playground shows beside the form.
	stripLength = 12
	// minUsual is how many generations of a model tell what it usually takes, at the least.
	minUsual = 3
	// maxHold is how long the answer to a page that waits for a change is held back. Proxies cut off
	// what is silent for a minute; and as long a page that is left keeps one of its browser's connections.
	maxHold = 10 * time.Second
	// pollPause is the pause between looks at images before the end; the end itself is told at once.
	pollPause = 500 * time.Millisecond
	// batchDelay is how long the end is waited for once something else has changed: to put what came into the page takes
	// the browser as long, and the end would wait for it.
	batchDelay = 100 * time.Millisecond
)

// resultsView is what the block results is given.
type resultsView struct {
	Result *resultView // nil: nothing was made yet
	Strip  strip
}

// resultView is one generation beside the form.
type resultView struct {
	generationView
	Token   string        // that makes a variation of it one generation, however often it is sent
	Elapsed time.Duration // since it was asked for; of one that has ended, until then
	Usual   time.Duration // what the model took this person lately; 0: too little is known
}

// Held is how long a change is waited for, in whole seconds.
func (resultView) Held() int { return int(maxHold / time.Second) }

// strip is the newest generations, each of which leads to its result.
type strip struct {
	Tiles   []tile
	Shown   imagegen.GenerationID // whose result the page shows
	Changed bool                  // it takes the place of the one that the page shows
}

// Seen is what the page asks with whether anything has changed.
func (s strip) Seen() string {
	var b strings.Builder
	for _, t := range s.Tiles {
		fmt.Fprintf(&b, "%s%d.", t.Status[:1], len(t.Images))
	}
	return b.String()
}

// Moves reports whether something but the result, which is watched by itself, may change.
func (s strip) Moves() bool {
	return slices.ContainsFunc(s.Tiles, func(t tile) bool { return !t.Status.Terminal() && t.ID != s.Shown })
}

// results are the newest generations and the one that is chosen; "": the newest.
func (c *Console) results(p *page, chosen imagegen.GenerationID) (v resultsView, err error) {
	list, err := p.service().Generations(p.context(), imagegen.Query{Limit: galleryPage})
	if err != nil {
		return v, err
	}
	if chosen == "" && len(list.Generations) > 0 {
		chosen = list.Generations[0].ID
	}
	v.Strip.Shown = chosen
	for _, g := range list.Generations[:min(stripLength, len(list.Generations))] {
		v.Strip.Tiles = append(v.Strip.Tiles, tile{Generation: g})
	}
	if chosen != "" {
		v.Result, err = c.result(p, chosen, list.Generations)
	}
	return v, err
}

// result is a generation of the person's, with what others of theirs tell of its model.
func (c *Console) result(p *page, id imagegen.GenerationID, others []imagegen.Generation) (*resultView, error) {
	g, err := c.viewOf(p, id)
	if err != nil {
		return nil, err
	}
	v := &resultView{generationView: g, Token: formToken(), Usual: usual(others, g.Model)}
	for i := range v.Pictures {
		v.Pictures[i].Beside = true
	}
	if v.Elapsed = p.now.Sub(g.CreatedAt); v.Ended() {
		v.Elapsed = g.CompletedAt.Sub(g.CreatedAt)
	}
	v.Elapsed = max(0, v.Elapsed)
	return v, nil
}

// usual is the median of what the generations of a model took that brought images; 0: there are too few.
func usual(gs []imagegen.Generation, model string) time.Duration {
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
	if median := took[len(took)/2]; median >= 100*time.Millisecond { // nobody waits for less
		return median
	}
	return 0
}

// resultAddress is that of the playground with a result beside the form.
func (c *Console) resultAddress(id imagegen.GenerationID) string {
	return c.path("playground") + "?result=" + string(id) + "#result"
}

// formToken is what a form is known by: see formRequest.fillDefaults.
func formToken() string { return "console-" + rand.Text() }

// showResult answers with the result of a generation, to be put beside the form. With what the page has
// seen of it, it answers once that has changed, or with nothing.
func (c *Console) showResult(p *page) error {
	id, q := named(p), p.r.URL.Query()
	if q.Has("seen") {
		seconds, _ := strconv.Atoi(q.Get("wait"))
		if moved, err := c.awaitChange(p, id, q.Get("seen"), min(time.Duration(seconds)*time.Second, maxHold)); err != nil {
			return err
		} else if !moved {
			return p.unchanged()
		}
		if _, err := p.service().Await(p.context(), id, batchDelay); err != nil {
			return err
		}
	}
	v, err := c.results(p, id)
	if err != nil {
		return err
	}
	v.Strip.Changed = true
	return p.fragment("playground", "shown", v)
}

// awaitChange waits until a generation looks otherwise than the page has seen it, and reports whether it does.
func (c *Console) awaitChange(p *page, id imagegen.GenerationID, seen string, most time.Duration) (bool, error) {
	for end := time.Now().Add(most); ; {
		v, err := c.viewOf(p, id)
		if err != nil || v.Seen() != seen {
			return err == nil, err
		}
		began := time.Now()
		if !began.Before(end) {
			return false, nil
		}
		g, err := p.service().Await(p.context(), id, pollPause)
		if err != nil {
			return false, err
		}
		if !g.Status.Terminal() && time.Since(began) < pollPause { // it stops, or too many wait: the page asks again
			return false, nil
		}
	}
}

// showStrip answers with the strip if it has changed since the page saw it, or with nothing.
func (c *Console) showStrip(p *page) error {
	q := p.r.URL.Query()
	v, err := c.results(p, imagegen.GenerationID(q.Get("result")))
	if err != nil {
		return err
	}
	if v.Strip.Seen() == q.Get("seen") {
		return p.unchanged()
	}
	return p.fragment("playground", "strip", v.Strip)
}

// madeView is what the block made is given.
type madeView struct {
	resultsView
	Preview previewView
	Token   string // for the next
}

// showMade answers a script whose form was taken: the result, and what has changed beside it.
func (c *Console) showMade(p *page, q *formRequest, id imagegen.GenerationID) error {
	v, err := c.results(p, id)
	if err != nil {
		return err
	}
	v.Strip.Changed = true
	b, err := p.service().Balance(p.context())
	if err != nil {
		return err
	}
	return p.fragment("playground", "made", madeView{v, p.previewOf(q, b, nil, ""), formToken()})
}

// inSeconds is a duration as one says it.
func inSeconds(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
	case d < 2*time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	}
	return strconv.Itoa(int(d.Minutes())) + " min"
}
