package console

import (
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

const (
	// searchPage is how many generations a search reads at once.
	searchPage = imagegen.MaxPageSize
	// maxEffort is how much of what does not fit a page passes over before it asks whether to go on: bytes of
	// prompts, and effortOfOne for each generation. It bounds what one request costs, however many there are.
	maxEffort   = 1 << 20
	effortOfOne = 512
	// maxWords bounds what is looked for in each prompt.
	maxWords = 16
)

// search is what narrows a gallery down; the zero value fits all.
type search struct {
	Status     imagegen.Status // "": all
	Favourites bool            // and no others
	Words      []string        // all of which the prompt has, in lower case
	Model      string          // "": all
	From, To   time.Time       // made at From or later, and before To; zero: whenever
}

// found is a page of what a search found, newest first.
type found struct {
	Generations []imagegen.Generation
	Next        imagegen.GenerationID // behind which others follow; "": none do
	Further     *imagegen.Generation  // how far it got where it gave up, nothing being known of what follows
}

// narrow reports whether the store does not do all of it.
func (s search) narrow() bool {
	return len(s.Words) > 0 || s.Model != ""
}

// fits reports whether a generation is what is looked for.
func (s search) fits(g imagegen.Generation) bool {
	if s.Model != "" && g.Model != s.Model {
		return false
	}
	if len(s.Words) == 0 {
		return true
	}
	prompt := strings.ToLower(g.Prompt)
	return !slices.ContainsFunc(s.Words, func(w string) bool { return !strings.Contains(prompt, w) })
}

// query is the part that the store does, from behind a generation on; "": from the newest.
func (s search) query(after imagegen.GenerationID) imagegen.Query {
	q := imagegen.Query{Status: s.Status, Favourites: s.Favourites, After: after, Limit: galleryPage + 1}
	if s.narrow() {
		q.Limit = searchPage
	}
	if first := imagegen.FirstGenerationID(s.To); !s.To.IsZero() && (after == "" || after > first) {
		q.After = first
	}
	return q
}

// find returns a page of the person's generations that fit. Identifiers rise with time, so that it neither begins
// before nor goes on behind the time that is asked for.
func (p *page) find(s search, after imagegen.GenerationID) (f found, err error) {
	q, effort := s.query(after), 0
	for {
		list, err := p.service().Generations(p.context(), q)
		if err != nil {
			return f, err
		}
		for _, g := range list.Generations {
			switch effort += effortOfOne + len(g.Prompt); {
			case g.CreatedAt.Before(s.From):
				return f, nil
			case !s.fits(g):
			case len(f.Generations) == galleryPage:
				f.Next = f.Generations[galleryPage-1].ID
				return f, nil
			default:
				f.Generations = append(f.Generations, g)
			}
		}
		if list.Next == "" {
			return f, nil
		}
		if effort >= maxEffort {
			f.Further = &list.Generations[len(list.Generations)-1]
			return f, nil
		}
		q.After = list.Next
	}
}
