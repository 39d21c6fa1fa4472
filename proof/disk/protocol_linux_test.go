package disk_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"io"
	"iter"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

// logRecord is what a client asked of the service, or the answer. A client says before each call
// what it asks, and afterwards the outcome, so that a tape that ends between the two leaves open
// what the service has to know.
type logRecord struct {
	What   matter
	Name   string // of what is asked for, unique
	User   imagegen.UserID
	Answer witness.Kind // "": asked

	Credits imagegen.Credits `json:",omitzero"` // of a grant
	Request request          `json:",omitzero"` // of a generation

	ID         imagegen.GenerationID `json:",omitzero"`
	Generation *imagegen.Generation  `json:",omitempty"`
	Sums       [][]byte              `json:",omitempty"` // of the images' bytes, as they were read
	Replayed   bool                  `json:",omitzero"`
	Detail     string                `json:",omitempty"` // of an error, for people who look into it

	Events []imagegen.FeedEvent `json:",omitempty"` // that a program has read
}

// matter is what a record is about.
type matter string

const (
	opening    matter = "open"
	granting   matter = "grant"
	generating matter = "generate"
	erasing    matter = "erase"
	reading    matter = "read" // the feed
)

// request is how a generation is asked for, in such a way that it can be asked for again.
type request struct {
	Prompt    string
	N         int
	Async     bool   `json:",omitzero"`
	Reference bool   `json:",omitzero"`
	Key       string `json:",omitzero"`
	Makes     int    // how many images come of it, where nothing fails but the provider
}

func (r request) generate() imagegen.GenerateRequest {
	q := imagegen.GenerateRequest{Model: model, Prompt: r.Prompt, N: r.N, Size: pictureSize, Async: r.Async,
		IdempotencyKey: r.Key}
	if r.Reference {
		q.References = []imagegen.Reference{reference(r.Prompt)}
	}
	return q
}

var pictureSize = imagegen.Size{Width: 48, Height: 48}

// reference is a reference image made of a text.
type reference string

func (r reference) Open(context.Context) (io.ReadCloser, error) {
	text := []byte(r)
	grey := image.NewGray(image.Rect(0, 0, 32, 32))
	for i := range grey.Pix {
		grey.SetGray(i%32, i/32, color.Gray{Y: text[i%len(text)]})
	}
	var b bytes.Buffer
	err := png.Encode(&b, grey)
	return io.NopCloser(&b), err
}

// operation is all that was said about one thing that was asked for.
type operation struct {
	asked   logRecord
	answers []logRecord
}

// was reports whether a client got an answer of one of these kinds.
func (d *operation) was(kinds ...witness.Kind) bool {
	return slices.ContainsFunc(d.answers, func(w logRecord) bool { return slices.Contains(kinds, w.Answer) })
}

// order is what the witness is to know of a generation that was asked for.
func (p *protocol) order(d *operation, fact witness.Fact) *witness.Order {
	o := &witness.Order{User: d.asked.User, Prompt: d.asked.Name, Doubt: len(d.answers) == 0}
	for _, w := range d.answers {
		g := imagegen.Generation{ID: w.ID}
		if w.Generation != nil {
			g = *w.Generation
		}
		o.Hear(w.Answer, g, fact)
		for n, sum := range w.Sums {
			o.HearImage(g.Images[n].ID, [32]byte(sum), fact)
		}
	}
	if erasure := p.erased[o.ID]; erasure != nil {
		o.Erasure = witness.Erasing
		if erasure.was(witness.Succeeded) {
			o.Erasure = witness.Erased
		}
	}
	return o
}

// orders and grants are what was asked for.
func (p *protocol) orders(fact witness.Fact) iter.Seq[*witness.Order] {
	return func(yield func(*witness.Order) bool) {
		for _, d := range p.operations {
			if d.asked.What == generating && !yield(p.order(d, fact)) {
				return
			}
		}
	}
}

func (p *protocol) grants() (all []witness.Grant) {
	for _, d := range p.operations {
		if d.asked.What == granting {
			g := witness.Grant{User: d.asked.User, Ref: d.asked.Name, Credits: d.asked.Credits, Answer: witness.Unknown}
			if len(d.answers) == 1 {
				g.Answer = d.answers[0].Answer
			}
			all = append(all, g)
		}
	}
	return all
}

// protocol is what was said until a moment, in its order.
type protocol struct {
	opened     bool
	broken     bool // the disk has failed: what was under way may have, and was refunded
	operations []*operation
	byName     map[string]*operation // of grants and generations
	erased     map[imagegen.GenerationID]*operation
	users      []imagegen.UserID
	feed       storagetest.FeedReader // of a program that goes on where it stopped
}

// listen takes down what was said. A record that repeats what was asked adds to the answers.
func listen(entries []entry) (p protocol, err error) {
	p = protocol{byName: map[string]*operation{}, erased: map[imagegen.GenerationID]*operation{}}
	for _, e := range entries {
		p.broken = p.broken || e.kind == broken
		if e.kind != said {
			continue
		}
		w, err := e.logRecord()
		if err != nil {
			return p, err
		}
		p.hear(w)
	}
	return p, nil
}

func (p *protocol) hear(w logRecord) {
	switch w.What {
	case opening:
		p.opened = true
		return
	case reading:
		p.feed.Events = append(p.feed.Events, w.Events...)
		return
	}
	d := p.byName[w.Name]
	if d == nil {
		d = &operation{asked: w}
		p.operations = append(p.operations, d)
		p.byName[w.Name] = d
		if w.What == erasing {
			p.erased[w.ID] = d
		}
		if !slices.Contains(p.users, w.User) {
			p.users = append(p.users, w.User)
		}
	}
	if w.Answer != "" {
		d.answers = append(d.answers, w)
	}
}
