package gallery

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// watch is the generations on a page of the gallery that have not ended, as the page shows them. The page polls
// Changes with their statuses until there are none left.
type watch []imagegen.Generation

// unended returns those of the generations that have not ended.
func unended(gs []imagegen.Generation) (w watch) {
	for _, g := range gs {
		if !g.Status.Terminal() {
			w = append(w, g)
		}
	}
	return w
}

// Query is the query with which the page polls: see Changes.
func (w watch) Query() string {
	q := url.Values{}
	for _, g := range w {
		q.Add("seen", string(g.ID)+":"+string(g.Status))
	}
	return q.Encode()
}

// title is the title of the page: how many generations are in progress or, once none are, what became of them.
func (w watch) title(ended string) string {
	if len(w) > 0 {
		ended = fmt.Sprintf("%d in the making: ", len(w))
	}
	return ended + "Generations"
}

// changesView is the data of the block changes.
type changesView struct {
	Tiles []Tile // those that have changed
	Watch watch  // what is still to be polled
	Said  string // a sentence for screen readers and notifications; "": none has ended
}

// Title is the new title of the browser's tab.
func (v changesView) Title() string {
	failed := slices.ContainsFunc(v.Tiles, func(t Tile) bool { return t.Status == imagegen.StatusFailed })
	switch {
	case v.Said == "":
		return v.Watch.title("")
	case failed:
		return v.Watch.title("Failed: ")
	}
	return v.Watch.title("Ready: ")
}

// Changes answers a page that polls with the tiles whose status has changed, or with no content. Each parameter seen
// is a generation and the status that the page shows. A generation that is gone is no longer polled; its tile stays
// until the page is loaded again.
func Changes(p *frame.Page) error {
	seen := p.Query()["seen"]
	// Each costs a read, and a page never has more.
	if len(seen) > PageSize {
		return imagegen.Invalid("more than %d generations are watched", PageSize)
	}
	var v changesView
	gone, ended := 0, 0
	for _, s := range seen {
		id, status, _ := strings.Cut(s, ":")
		g, err := p.Service().Generation(p.Context(), imagegen.GenerationID(id))
		if errors.Is(err, imagegen.ErrNotFound) {
			gone++
			continue
		}
		if err != nil {
			return err
		}
		if string(g.Status) != status {
			v.Tiles = append(v.Tiles, Tile{g, true})
		}
		if g.Status.Terminal() {
			ended++
			continue
		}
		v.Watch = append(v.Watch, g)
	}
	if len(v.Tiles) == 0 && gone == 0 {
		return p.NoContent()
	}
	if ended > 0 {
		v.Said = fmt.Sprintf("%s ended.", format.Count(ended, "generation has", "generations have"))
	}
	return p.RenderBlock("generations", "changes", v)
}
