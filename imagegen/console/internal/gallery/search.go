package gallery

import (
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

const (
	// searchPage is how many generations a search reads from the store at once.
	searchPage = imagegen.MaxPageSize
	// maxEffort bounds what one request of a search costs, however many generations there are: about two thousand
	// with short prompts. Each generation that is read counts with the bytes of its prompt and effortOfOne. Then the
	// page shows what was found, and asks whether to continue.
	maxEffort   = 1 << 20
	effortOfOne = 512
	// maxWords is how many words are searched for; further ones are ignored.
	maxWords = 16
)

// search narrows the gallery down; the zero value matches everything.
type search struct {
	Status     imagegen.Status // "": any
	Favourites bool            // only favourites
	Words      []string        // in lower case; the prompt must contain all of them, also as parts of words
	Model      string          // "": any
	From, To   time.Time       // created at From or later, and before To; zero: no bound
}

// found is a page of what a search found, newest first. At most one of Next and Further is set.
type found struct {
	Generations []imagegen.Generation
	Next        imagegen.GenerationID // the cursor of the next page, which has at least one match; "": there is none
	// the last generation that was looked at when maxEffort was reached; nil: it was not
	Further *imagegen.Generation
}

// needsScan reports whether generations must be compared here, since the store cannot search by words or by model.
func (s search) needsScan() bool {
	return len(s.Words) > 0 || s.Model != ""
}

// matches reports whether a generation matches in those respects that the store does not check.
func (s search) matches(g imagegen.Generation) bool {
	if s.Model != "" && g.Model != s.Model {
		return false
	}
	if len(s.Words) == 0 {
		return true
	}
	prompt := strings.ToLower(g.Prompt)
	return !slices.ContainsFunc(s.Words, func(w string) bool { return !strings.Contains(prompt, w) })
}

// query returns the part of the search that the store does, from behind a generation on; "": from the newest. It
// reads one more than a page holds, to know whether another follows. To becomes a position: identifiers rise with
// time, so generations that are too new are not even read.
func (s search) query(after imagegen.GenerationID) imagegen.Query {
	q := imagegen.Query{Status: s.Status, Favourites: s.Favourites, After: after, Limit: PageSize + 1}
	if s.needsScan() {
		q.Limit = searchPage
	}
	// Whichever begins further back: the page, or the day.
	if first := imagegen.FirstGenerationID(s.To); !s.To.IsZero() && (after == "" || after > first) {
		q.After = first
	}
	return q
}

// find returns a page of the person's generations that match, from behind a generation on; "": from the newest. It
// stops at the first one created before From, since all that follow are older.
func find(p *frame.Page, s search, after imagegen.GenerationID) (f found, err error) {
	q, effort := s.query(after), 0
	for {
		list, err := p.Service().Generations(p.Context(), q)
		if err != nil {
			return f, err
		}
		for _, g := range list.Generations {
			// The order matters: what is too old ends the search, even if the page has room; what does not match costs
			// effort, but takes no room.
			switch effort += effortOfOne + len(g.Prompt); {
			case g.CreatedAt.Before(s.From):
				return f, nil
			case !s.matches(g):
			case len(f.Generations) == PageSize:
				f.Next = f.Generations[PageSize-1].ID
				return f, nil
			default:
				f.Generations = append(f.Generations, g)
			}
		}
		if list.Next == "" { // the store has no more
			return f, nil
		}
		if effort >= maxEffort {
			f.Further = &list.Generations[len(list.Generations)-1]
			return f, nil
		}
		q.After = list.Next
	}
}
