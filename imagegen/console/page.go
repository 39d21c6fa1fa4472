package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// page is one request on its way to an answer.
type page struct {
	c      *Console
	w      http.ResponseWriter
	r      *http.Request
	route  route
	now    time.Time             // of the whole request
	person person                // nobody, on pages that anyone may open
	begun  bool                  // the answer has
	about  imagegen.GenerationID // that it is about, if any
}

// person is who is signed in; the zero value is nobody.
type person struct {
	imagegen.User
	Role   account.Role
	signIn account.SignIn
}

func (p person) known() bool { return p.ID != "" }

// Operator reports whether the person is one.
func (p person) Operator() bool { return p.Role == account.RoleOperator }

// handler does what every page needs: who asks, whether they may, and what becomes of an error.
func (c *Console) handler(rt route, h handle) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &page{c: c, w: w, r: r, route: rt, now: c.cfg.Now()}
		w.(*loggingWriter).page = p // see ServeHTTP
		w.Header().Set("Cache-Control", "no-store")
		defer p.recovered()
		if err := p.serve(h); err != nil {
			p.fail(err)
		}
	})
}

func (p *page) serve(h handle) error {
	if err := p.identify(); err != nil {
		return err
	}
	p.act(p.person.User)
	if !p.route.access.allows(p.person) {
		if p.person.known() {
			return imagegen.ErrNotFound
		}
		if p.route.access == typing && !p.scripted() {
			return p.keepTyped()
		}
		return p.askSignIn()
	}
	if p.route.access == operator {
		if lacks, err := p.lacksPasskey(); err != nil || lacks {
			return p.sendForPasskey(err)
		}
	}
	return h(p.c, p)
}

// recovered answers a request whose handler panicked. An answer that had begun is cut off, so that
// nobody takes it for a whole one.
func (p *page) recovered() {
	v := recover()
	if v == nil {
		return
	}
	if v != http.ErrAbortHandler {
		err := fmt.Errorf("console: a handler panicked: %v\n%s", v, debug.Stack())
		if !p.begun {
			p.fail(err)
			return
		}
		p.log(err)
	}
	panic(http.ErrAbortHandler)
}

func (p *page) context() context.Context { return p.r.Context() }

// service is what the signed-in person can do.
func (p *page) service() *engine.Session { return p.c.cfg.Engine.As(p.person.ID) }

// view is what layout.html is given.
type view struct {
	Section string
	Person  person
	Flash   string // what the page before has done
	Data    any
}

// render answers with a page: the template of that name in templates, within the layout.
func (p *page) render(name string, data any) error { return p.renderStatus(http.StatusOK, name, data) }

// renderStatus is render with another status: 422 for a form that is to be mended.
func (p *page) renderStatus(status int, name string, data any) error {
	return p.write(status, name, "layout", view{Section: p.route.section, Person: p.person, Flash: p.takeFlash(), Data: data})
}

// fragment answers with one block that a page's template defines, for a script to put in place.
func (p *page) fragment(name, block string, data any) error {
	return p.write(http.StatusOK, name, block, data)
}

func (p *page) write(status int, name, block string, data any) error {
	t, ok := p.c.templates[name]
	if !ok {
		return fmt.Errorf("console: there is no template %q", name)
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, block, data); err != nil {
		return fmt.Errorf("console: %w", err)
	}
	p.begun = true
	p.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	p.w.WriteHeader(status)
	b.WriteTo(p.w) // there is nobody to tell if the browser has gone
	return nil
}

// stream begins an answer that is no page and returns where to write it.
func (p *page) stream(contentType string) io.Writer {
	p.begun = true
	p.w.Header().Set("Content-Type", contentType)
	return p.w
}

// redirect sends the browser on to a path below Config.Path; see Console.path.
func (p *page) redirect(segments ...string) error { return p.send(p.c.path(segments...)) }

// done is redirect after a change, with a message on the next page.
func (p *page) done(message string, segments ...string) error {
	p.setFlash(message)
	return p.redirect(segments...)
}

// send sends the browser on to an address of this host. A script that fetches a part of a page is told
// to load the whole.
func (p *page) send(address string) error {
	p.begun = true
	if p.scripted() {
		p.w.Header().Set("HX-Redirect", address)
		p.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	p.w.Header().Set("Location", address)
	p.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// scripted reports whether htmx asks, and not the browser's user.
func (p *page) scripted() bool { return p.r.Header.Get("HX-Request") == "true" }

// unknown answers for every address that is no page.
func (c *Console) unknown(*page) error { return imagegen.ErrNotFound }

func (c *Console) home(p *page) error { return p.redirect("playground") }

var errCrossOrigin = errors.New("console: the request comes from another site")

func (c *Console) crossOrigin(*page) error { return errCrossOrigin }
