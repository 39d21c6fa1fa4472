package frame

import (
	"bytes"
	"fmt"
	"io"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/limiter"
	"github.com/imagegend/imagegend/internal/clientaddr"
	"github.com/imagegend/imagegend/internal/share"
)

// How many bytes forms and pages may take in memory at once: those of one payer, of which one member may take half, and
// those of one network from which people come who are not signed in. All users together, and all such networks
// together, may take sixteen times as much, apart from each other: strangers keep no user out.
const (
	heldOfPayer   = 8 << 20
	heldOfMember  = heldOfPayer / 2
	heldOfNetwork = 4 << 20
	holders       = 16
)

// formGrowth and pageGrowth are how many bytes of memory a byte takes: of a form the buffer that grows, its text and
// the values in it, of a page the buffer.
const (
	formGrowth = 4
	pageGrowth = 2
)

// memory is shared by all requests.
type memory struct {
	payers, members, strangers *share.Shares[string]
	turns                      *limiter.Turns // of building a page
}

func newMemory() memory {
	return memory{share.New[string](heldOfPayer, holders*heldOfPayer),
		share.New[string](heldOfMember, holders*heldOfPayer),
		share.New[string](heldOfNetwork, holders*heldOfNetwork), limiter.NewTurns()}
}

// holding is the memory that one request takes, of each of its shares.
type holding struct {
	of    []shareOf // nil: it has taken none yet
	bytes int64
}

// shareOf is somebody's share.
type shareOf struct {
	*share.Shares[string]
	holder string
}

// sharesOf returns the shares of the person who is signed in, or else of the network; the narrowest is the last.
func (p *Page) sharesOf() []shareOf {
	switch {
	case !p.Person.Known():
		return []shareOf{{p.memory.strangers, clientaddr.Network(p.ClientAddress()).String()}}
	case p.Person.Sponsor != "":
		return []shareOf{{p.memory.payers, string(p.Person.Sponsor)}, {p.memory.members, string(p.Person.ID)}}
	}
	return []shareOf{{p.memory.payers, string(p.Person.ID)}}
}

// hold counts n more bytes until the request ends, also if the person signs in or out meanwhile. ErrOverloaded: that
// is too much at once.
func (p *Page) hold(n int) error {
	if p.held.of == nil {
		p.held.of = p.sharesOf()
	}
	for i, s := range p.held.of {
		if !s.Take(s.holder, int64(n)) {
			for _, taken := range p.held.of[:i] {
				taken.Give(taken.holder, int64(n))
			}
			return imagegen.ErrOverloaded
		}
	}
	p.held.bytes += int64(n)
	return nil
}

// release gives back n bytes of what the request has taken.
func (p *Page) release(n int64) {
	for _, s := range p.held.of {
		s.Give(s.holder, n)
	}
	p.held.bytes -= n
}

// held is part of a form that is counted as it is read.
type held struct {
	io.Reader
	page *Page
}

// Read implements io.Reader.
func (h held) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	if full := h.page.hold(formGrowth * n); full != nil {
		return 0, full
	}
	return n, err
}

// buffer is a page that is counted as it is built.
type buffer struct {
	text bytes.Buffer
	page *Page
}

// Write implements io.Writer.
func (b *buffer) Write(p []byte) (int, error) {
	if err := b.page.hold(pageGrowth * len(p)); err != nil {
		return 0, err
	}
	return b.text.Write(p)
}

// build executes a template. It builds one page at a time for each person, or network: what a template makes along the
// way is not counted, and many pages at once would keep the processors from all others.
func (p *Page) build(name, block string, data any) (*buffer, error) {
	t, ok := p.templates[name]
	if !ok {
		return nil, fmt.Errorf("console: there is no template %q", name)
	}
	b := &buffer{page: p}
	if err := p.hold(0); err != nil {
		return nil, err
	}
	before := p.held.bytes
	done, err := p.memory.turns.Take(p.Context(), limiter.Attempt{Name: p.held.of[len(p.held.of)-1].holder})
	if err != nil {
		return nil, err
	}
	defer done()
	if err := t.ExecuteTemplate(b, block, data); err != nil {
		p.release(p.held.bytes - before) // the page that says so may be sent for long
		return nil, fmt.Errorf("console: %w", err)
	}
	return b, nil
}
