// Package gallery has the pages about the generations that people have, and serves their images.
package gallery

import (
	"embed"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

//go:embed templates
var sources embed.FS

// Templates are those of the pages.
var Templates = frame.Templates{Files: sources}

// PageSize is how many generations a page of the gallery has: whole rows of two, three and four.
const PageSize = 24

// generationsView is the data of generations.html.
type generationsView struct {
	Search  search
	Form    *form.Form
	Models  []form.Option
	Filters []frame.Filter
	Tiles   []Tile
	Watch   watch
	Pager   frame.Pager
	Further string    // the address at which an unfinished search continues; "": it is finished
	Upto    time.Time // how far back an unfinished search has looked
}

// Sought reports whether the search form narrows the gallery down, in addition to the filters.
func (v generationsView) Sought() bool {
	s := v.Search
	return s.needsScan() || !s.From.IsZero() || !s.To.IsZero()
}

// Tile is one generation in the gallery.
type Tile struct {
	imagegen.Generation
	Changed bool // a script replaces the tile on the page by this one
}

// Why says why the generation failed; "" if it did not.
func (t Tile) Why() string { return why(t.Generation) }

// Cover is the image that stands for the generation; "": there is none.
func (t Tile) Cover() imagegen.ImageID {
	if len(t.Images) == 0 {
		return ""
	}
	return t.Images[0].ID
}

// Generations shows the gallery: a page of the person's generations, as far as the search in the address matches. A
// search that has looked at too many generations says how far it got, and offers to continue from there.
func Generations(p *frame.Page) error {
	v := generationsView{Form: searchForm(p)}
	v.Search = readSearch(v.Form)
	f, err := find(p, v.Search, imagegen.GenerationID(v.Form.Value("after")))
	if err != nil {
		return err
	}
	for _, g := range f.Generations {
		v.Tiles = append(v.Tiles, Tile{Generation: g})
	}
	v.Models = searchModels(p, v.Search.Model)
	v.Filters = filters(p, v.Search)
	v.Watch = unended(f.Generations)
	v.Pager = p.Pager("after", string(f.Next))
	if f.Further != nil {
		v.Further, v.Upto = p.Here("after", string(f.Further.ID)), f.Further.CreatedAt
	}
	return p.Render("generations", v)
}

// searchForm returns the search in the gallery's address as a form. An unknown status is ignored.
func searchForm(p *frame.Page) *form.Form {
	f := &form.Form{Values: p.Query()}
	if !slices.Contains(imagegen.Statuses(), imagegen.Status(f.Value("status"))) {
		f.Values.Del("status")
	}
	return f
}

// readSearch returns what the form asks for. A day that cannot be read becomes a fault and is left out.
func readSearch(f *form.Form) search {
	s := search{Status: imagegen.Status(f.Value("status")), Favourites: f.Value("favourites") != "",
		Model: f.Value("model")}
	s.Words = strings.Fields(strings.ToLower(f.Value("q")))
	s.Words = s.Words[:min(len(s.Words), maxWords)]
	s.From, s.To = readDay(f, "from"), readDay(f, "to")
	if !s.To.IsZero() {
		s.To = s.To.AddDate(0, 0, 1) // the day itself is included
	}
	return s
}

// readDay returns the midnight in UTC with which an entered day begins; the zero time if none was entered.
func readDay(f *form.Form, name string) time.Time {
	entered := f.Value(name)
	day, err := time.Parse(time.DateOnly, entered)
	if err != nil && entered != "" {
		f.AddFault(name, "A day is written such as 2026-01-31.")
	}
	return day
}

// ModelOptions are the models on offer, as choices.
func ModelOptions(p *frame.Page) (all []form.Option) {
	offers, _ := p.Service().Offers(p.Context()) // without them there is only less to choose from
	for _, m := range offers {
		all = append(all, form.Options(m.ID, m.ID)...)
	}
	return all
}

// searchModels are the models to choose from: those on offer and, though it may be gone, the chosen one.
func searchModels(p *frame.Page, asked string) []form.Option {
	all := append(form.Options("", "All models"), ModelOptions(p)...)
	if !slices.ContainsFunc(all, func(o form.Option) bool { return o.Value == asked }) {
		all = append(all, form.Options(asked, asked)...)
	}
	return all
}

// filters are links to the first page of each status, and of the favourites. They keep the rest of the search.
func filters(p *frame.Page, now search) []frame.Filter {
	labels := map[imagegen.Status]string{"": "All", imagegen.StatusQueued: "Queued",
		imagegen.StatusProcessing: "Processing", imagegen.StatusSucceeded: "Succeeded", imagegen.StatusFailed: "Failed"}
	var all []frame.Filter
	for _, s := range append([]imagegen.Status{""}, imagegen.Statuses()...) {
		address := p.Here("status", string(s), "favourites", "", "after", "")
		all = append(all, frame.Filter{Label: labels[s], Address: address, Current: now.Status == s && !now.Favourites})
	}
	address := p.Here("status", "", "favourites", "yes", "after", "")
	return append(all, frame.Filter{Label: "Favourites", Address: address, Current: now.Favourites})
}

// Title is the title of the browser's tab, with the number of generations in progress.
func (v generationsView) Title() string { return v.Watch.title("") }
