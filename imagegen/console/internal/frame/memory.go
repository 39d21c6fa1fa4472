package frame

import (
	"bytes"
	"cmp"
	"fmt"
	"io"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/limiter"
	"github.com/imagegend/imagegend/internal/clientaddr"
	"github.com/imagegend/imagegend/internal/share"
)

// How many bytes forms and pages may take in memory at once: those of one payer, and those of one network from which
// people come who are not signed in. All users together, and all strangers together, have as much as sixteen of them,
// apart from each other: strangers keep no user out.
const (
	heldOfUser    = 8 << 20
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
	users, strangers *share.Shares[string]
	turns            *limiter.Turns // of building a page
}

func newMemory() memory {
	return memory{share.New[string](heldOfUser, holders*heldOfUser),
		share.New[string](heldOfNetwork, holders*heldOfNetwork), limiter.NewTurns()}
}

// holding is the memory that one request takes.
type holding struct {
	shares *share.Shares[string] // nil: it has taken none yet
	holder string
	bytes  int64
}

// hold counts n more bytes until the request ends, for who asks first. ErrOverloaded: that is too much at once.
func (p *Page) hold(n int) error {
	h := &p.held
	if h.shares == nil {
		h.shares, h.holder = p.memory.strangers, clientaddr.Network(p.ClientAddress()).String()
		if p.Person.Known() {
			h.shares, h.holder = p.memory.users, string(cmp.Or(p.Person.Sponsor, p.Person.ID))
		}
	}
	if !h.shares.Take(h.holder, int64(n)) {
		return imagegen.ErrOverloaded
	}
	h.bytes += int64(n)
	return nil
}

// release gives back what the request has taken.
func (p *Page) release() {
	if p.held.shares != nil {
		p.held.shares.Give(p.held.holder, p.held.bytes)
	}
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

// build executes a template. It builds one page at a time for each holder: what a template makes along the way is not
// counted, and many pages of one holder would keep the processors from all others.
func (p *Page) build(name, block string, data any) (*buffer, error) {
	t, ok := p.templates[name]
	if !ok {
		return nil, fmt.Errorf("console: there is no template %q", name)
	}
	b := &buffer{page: p}
	if err := p.hold(0); err != nil {
		return nil, err
	}
	done, err := p.memory.turns.Take(p.Context(), limiter.Attempt{Name: p.held.holder})
	if err != nil {
		return nil, err
	}
	defer done()
	if err := t.ExecuteTemplate(b, block, data); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	return b, nil
}
