package console

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// galleryPage is how many generations a page of the gallery has: whole rows of two, three and four.
const galleryPage = 24

// generationsView is the data of generations.html.
type generationsView struct {
	Search  search
	Form    *form
	Models  []option
	Filters []filter
	Tiles   []tile
	Watch   watch
	Pager   pager
	Further string    // the address at which an unfinished search continues; "": it is finished
	Upto    time.Time // how far back an unfinished search has looked
}

// Sought reports whether the search form narrows the gallery down, in addition to the filters.
func (v generationsView) Sought() bool {
	s := v.Search
	return s.narrow() || !s.From.IsZero() || !s.To.IsZero()
}

// filter is a link to another view of a list.
type filter struct {
	Label   string
	Address string
	Current bool
}

// tile is one generation in the gallery.
type tile struct {
	imagegen.Generation
	Changed bool // a script replaces the tile on the page by this one
}

// Cover is the image that stands for the generation; "": there is none.
func (t tile) Cover() imagegen.ImageID {
	if len(t.Images) == 0 {
		return ""
	}
	return t.Images[0].ID
}

// generations shows the gallery: a page of the person's generations, as far as the search in the address matches. A
// search that has looked at too many generations says how far it got, and offers to continue from there.
func (c *Console) generations(p *page) error {
	v := generationsView{Form: p.searchForm()}
	v.Search = v.Form.search()
	f, err := p.find(v.Search, imagegen.GenerationID(v.Form.Value("after")))
	if err != nil {
		return err
	}
	for _, g := range f.Generations {
		v.Tiles = append(v.Tiles, tile{Generation: g})
	}
	if v.Models, err = c.searchModels(p.context(), v.Search.Model); err != nil {
		return err
	}
	v.Filters = p.filters(v.Search)
	v.Watch = watching(f.Generations)
	v.Pager = p.pager("after", string(f.Next))
	if f.Further != nil {
		v.Further, v.Upto = p.here("after", string(f.Further.ID)), f.Further.CreatedAt
	}
	return p.render("generations", v)
}

// searchForm returns the search in the gallery's address as a form. An unknown status is ignored.
func (p *page) searchForm() *form {
	f := &form{values: p.r.URL.Query()}
	if !slices.Contains(imagegen.Statuses(), imagegen.Status(f.Value("status"))) {
		f.values.Del("status")
	}
	return f
}

// search returns what the form asks for. A day that cannot be read becomes a fault and is left out.
func (f *form) search() search {
	s := search{Status: imagegen.Status(f.Value("status")), Favourites: f.Value("favourites") != "", Model: f.Value("model")}
	s.Words = strings.Fields(strings.ToLower(f.Value("q")))
	s.Words = s.Words[:min(len(s.Words), maxWords)]
	s.From, s.To = f.day("from"), f.day("to")
	if !s.To.IsZero() {
		s.To = s.To.AddDate(0, 0, 1) // the day itself is included
	}
	return s
}

// day returns the midnight in UTC with which an entered day begins; the zero time if none was entered.
func (f *form) day(name string) time.Time {
	entered := f.Value(name)
	day, err := time.Parse(time.DateOnly, entered)
	if err != nil && entered != "" {
		f.addFault(name, "A day is written such as 2026-01-31.")
	}
	return day
}

// searchModels are the models to choose from: those on offer and, though it may be gone, the chosen one.
func (c *Console) searchModels(ctx context.Context, asked string) ([]option, error) {
	models, err := c.models(ctx)
	all := append([]option{{"", "All models"}}, models...)
	if !slices.ContainsFunc(all, func(o option) bool { return o.Value == asked }) {
		all = append(all, option{asked, asked})
	}
	return all, err
}

// filters are links to the first page of each status, and of the favourites. They keep the rest of the search.
func (p *page) filters(now search) []filter {
	labels := map[imagegen.Status]string{"": "All", imagegen.StatusQueued: "Queued", imagegen.StatusProcessing: "Processing",
		imagegen.StatusSucceeded: "Succeeded", imagegen.StatusFailed: "Failed"}
	var all []filter
	for _, s := range append([]imagegen.Status{""}, imagegen.Statuses()...) {
		all = append(all, filter{labels[s], p.here("status", string(s), "favourites", "", "after", ""), now.Status == s && !now.Favourites})
	}
	return append(all, filter{"Favourites", p.here("status", "", "favourites", "yes", "after", ""), now.Favourites})
}

// Title is the title of the browser's tab, with the number of generations in progress.
func (v generationsView) Title() string { return v.Watch.title("") }
