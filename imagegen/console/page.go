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

// page is one request on its way to an answer. It belongs to the goroutine of its request.
type page struct {
	c     *Console
	w     http.ResponseWriter
	r     *http.Request // replaced when its context changes, as in act
	route route
	now   time.Time // read once, so that a request sees one moment
	// person is who is signed in. On pages that anyone may open, it may be nobody.
	person person
	// begun says that part of the answer may have been sent. From then on an error can only cut it off.
	begun bool
	about imagegen.GenerationID // the generation in question, for the log; "": none
}

// person is the user who is signed in; the zero value is nobody.
type person struct {
	imagegen.User
	Role   account.Role
	signIn account.SignIn
}

// known reports whether anybody is signed in.
func (p person) known() bool { return p.ID != "" }

// Operator reports whether the person is one.
func (p person) Operator() bool { return p.Role == account.RoleOperator }

// handler does what every page needs: it finds out who asks and whether they may, and answers with the error that
// the handler returns or panics with.
func (c *Console) handler(rt route, h handle) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &page{c: c, w: w, r: r, route: rt, now: c.cfg.Now()}
		w.(*loggingWriter).page = p // the log names the route and the user; see ServeHTTP
		w.Header().Set("Cache-Control", "no-store")
		defer p.recovered()
		if err := p.serve(h); err != nil {
			p.fail(err)
		}
	})
}

// serve checks access and calls the handler. The order matters: who asks is known first, so that everything from
// then on is recorded under their name in the audit trail.
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
	// Only after access is known to be allowed: nobody else shall learn that an operator's page exists.
	if p.route.access == operator {
		if lacks, err := p.lacksPasskey(); err != nil || lacks {
			return p.sendForPasskey(err)
		}
	}
	return h(p.c, p)
}

// recovered answers a request whose handler panicked, and must be deferred. An answer that has begun is cut off, so
// that nobody takes it for a complete one. It panics with http.ErrAbortHandler, which net/http does not log.
func (p *page) recovered() {
	v := recover()
	if v == nil {
		return
	}
	if v != http.ErrAbortHandler { // otherwise fail, or net/http, wants the connection cut
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

// service is the engine as the signed-in person may use it: it returns only what belongs to them.
func (p *page) service() *engine.Session { return p.c.cfg.Engine.As(p.person.ID) }

// view is the data of layout.html.
type view struct {
	Section string
	Person  person
	Flash   string // what the previous request did; "": nothing to tell
	Data    any    // of the page's own template
}

// render answers with a page: the template of that name in templates, within the layout.
func (p *page) render(name string, data any) error { return p.renderStatus(http.StatusOK, name, data) }

// renderStatus is render with another status, such as 422 for a form with mistakes.
func (p *page) renderStatus(status int, name string, data any) error {
	return p.write(status, name, "layout", view{Section: p.route.section, Person: p.person, Flash: p.takeFlash(), Data: data})
}

// fragment answers with one block of a page's template, without the layout, for a script to insert.
func (p *page) fragment(name, block string, data any) error {
	return p.write(http.StatusOK, name, block, data)
}

// write executes a template and sends the result. It sends nothing before all of it is there: a template that fails
// half way must not leave half a page.
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

// stream begins an answer other than a page and returns the writer for it. The caller sets other headers before.
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

// send redirects the browser to an address, by a GET (303). A script that fetches part of a page would insert what the
// redirect leads to, so htmx is told to load the address as a page instead.
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

// scripted reports whether a script asks for part of a page: htmx, or playground.js, which sends the same header.
func (p *page) scripted() bool { return p.r.Header.Get("HX-Request") == "true" }

// unknown answers every address that matches no other route.
func (c *Console) unknown(*page) error { return imagegen.ErrNotFound }

// home is the first page after a sign-in.
func (c *Console) home(p *page) error { return p.redirect("playground") }

var errCrossOrigin = errors.New("console: the request comes from another site")

// crossOrigin answers a request that http.CrossOriginProtection refused.
func (c *Console) crossOrigin(*page) error { return errCrossOrigin }
