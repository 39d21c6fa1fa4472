package console

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// watch is the generations on a page of the gallery that have not ended, as the page shows them. The page polls
// changes with their statuses until there are none left.
type watch []imagegen.Generation

// watching returns those of the generations that have not ended.
func watching(gs []imagegen.Generation) (w watch) {
	for _, g := range gs {
		if !g.Status.Terminal() {
			w = append(w, g)
		}
	}
	return w
}

// Query is the query with which the page polls: see changes.
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
	Tiles []tile // those that have changed
	Watch watch  // what is still to be polled
	Said  string // a sentence for screen readers and notifications; "": none has ended
}

// Title is the new title of the browser's tab.
func (v changesView) Title() string {
	failed := slices.ContainsFunc(v.Tiles, func(t tile) bool { return t.Status == imagegen.StatusFailed })
	switch {
	case v.Said == "":
		return v.Watch.title("")
	case failed:
		return v.Watch.title("Failed: ")
	}
	return v.Watch.title("Ready: ")
}

// changes answers a page that polls with the tiles whose status has changed, or with no content. Each parameter seen
// is a generation and the status that the page shows. A generation that is gone is no longer polled; its tile stays
// until the page is loaded again.
func (c *Console) changes(p *page) error {
	seen := p.r.URL.Query()["seen"]
	// Each costs a read, and a page never has more.
	if len(seen) > galleryPage {
		return imagegen.Invalid("more than %d generations are watched", galleryPage)
	}
	var v changesView
	gone, ended := 0, 0
	for _, s := range seen {
		id, status, _ := strings.Cut(s, ":")
		g, err := p.service().Generation(p.context(), imagegen.GenerationID(id))
		if errors.Is(err, imagegen.ErrNotFound) {
			gone++
			continue
		}
		if err != nil {
			return err
		}
		if string(g.Status) != status {
			v.Tiles = append(v.Tiles, tile{g, true})
		}
		if g.Status.Terminal() {
			ended++
			continue
		}
		v.Watch = append(v.Watch, g)
	}
	if len(v.Tiles) == 0 && gone == 0 {
		return p.unchanged()
	}
	if ended > 0 {
		v.Said = fmt.Sprintf("%s ended.", count(ended, "generation has", "generations have"))
	}
	return p.fragment("generations", "changes", v)
}

// unchanged answers a script that polls: nothing has changed, so the page stays as it is.
func (p *page) unchanged() error {
	p.begun = true
	p.w.WriteHeader(http.StatusNoContent)
	return nil
}
