package console

import (
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// galleryPage is how many generations the gallery shows at once: whole rows of two, three and four.
const galleryPage = 24

// generationsView is what generations.html is given.
type generationsView struct {
	Status   imagegen.Status // "": all
	Statuses []filter
	Tiles    []tile
	Watch    watch
	Pager    pager
}

// filter is one way to narrow the gallery down.
type filter struct {
	Label   string
	Address string
	Current bool
}

// tile is one generation in the gallery.
type tile struct {
	imagegen.Generation
	Changed bool // it takes the place of the one that the page shows
}

// Cover is the image that stands for all.
func (t tile) Cover() imagegen.ImageID {
	if len(t.Images) == 0 {
		return ""
	}
	return t.Images[0].ID
}

func (c *Console) generations(p *page) error {
	q := p.r.URL.Query()
	v := generationsView{Status: imagegen.Status(q.Get("status"))}
	if !slices.Contains(imagegen.Statuses(), v.Status) {
		v.Status = ""
	}
	list, err := p.service().Generations(p.context(), imagegen.Query{
		Limit: galleryPage, After: imagegen.GenerationID(q.Get("after")), Status: v.Status})
	if err != nil {
		return err
	}
	for _, g := range list.Generations {
		v.Tiles = append(v.Tiles, tile{Generation: g})
	}
	v.Statuses = c.filters(v.Status)
	v.Watch = watching(list.Generations)
	v.Pager = p.pager("after", string(list.Next))
	return p.render("generations", v)
}

// filters lead to the first page of each status.
func (c *Console) filters(now imagegen.Status) []filter {
	base := c.path("generations")
	labels := map[imagegen.Status]string{imagegen.StatusQueued: "Queued", imagegen.StatusProcessing: "Processing",
		imagegen.StatusSucceeded: "Succeeded", imagegen.StatusFailed: "Failed"}
	all := []filter{{"All", base, now == ""}}
	for _, s := range imagegen.Statuses() {
		all = append(all, filter{labels[s], base + "?status=" + string(s), now == s})
	}
	return all
}
