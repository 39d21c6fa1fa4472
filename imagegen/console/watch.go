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

// watch names the generations of a page that have not ended, each with its status there. The page
// asks for what has changed until it names none.
type watch []imagegen.Generation

func watching(gs []imagegen.Generation) (w watch) {
	for _, g := range gs {
		if !g.Status.Terminal() {
			w = append(w, g)
		}
	}
	return w
}

// Query is what the page asks with: see changes.
func (w watch) Query() string {
	q := url.Values{}
	for _, g := range w {
		q.Add("seen", string(g.ID)+":"+string(g.Status))
	}
	return q.Encode()
}

// title is that of the page: how many are in the making, or what became of them.
func (w watch) title(ended string) string {
	if len(w) > 0 {
		ended = fmt.Sprintf("%d in the making: ", len(w))
	}
	return ended + "Generations"
}

// changesView is what the block changes is given.
type changesView struct {
	Tiles []tile // that look different now
	Watch watch
	Said  string // to whom listens to the page
}

// Title says in the title of a tab how many are still in the making, or what became of them.
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

// changes answers with the tiles that have changed since the page saw them, or with nothing.
func (c *Console) changes(p *page) error {
	seen := p.r.URL.Query()["seen"]
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

// unchanged tells a script to leave what the page shows.
func (p *page) unchanged() error {
	p.begun = true
	p.w.WriteHeader(http.StatusNoContent)
	return nil
}
