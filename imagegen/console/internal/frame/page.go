package frame

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// Page is one request on its way to an answer. It belongs to the goroutine of its request.
type Page struct {
	*Frame
	Writer  http.ResponseWriter
	Request *http.Request // replaced when its context changes, as in SetActor
	Route   Route
	Now     time.Time // read once, so that a request sees one moment
	// Person is who is signed in. On pages that anyone may open, it may be nobody.
	Person     Person
	session    *engine.Session       // of a person whom the host has signed in; nil: another one
	Generation imagegen.GenerationID // the generation in question, for the log; "": none
	// begun says that part of the answer may have been sent. From then on an error can only cut it off.
	begun bool
	held  holding // of memory
}

// handlerOf does what every page needs: it finds out who asks and whether they may, and answers with the error that the
// handler returns or panics with.
func (f *Frame) handlerOf(rt Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &Page{Frame: f, Writer: w, Request: r, Route: rt, Now: f.Now()}
		w.(*loggingWriter).page = p // the log names the route and the user; see ServeHTTP
		w.Header().Set("Cache-Control", "no-store")
		defer func() { p.release(p.held.bytes) }() // also when the handler panics
		defer p.recoverPanic()
		if err := p.admitAndHandle(); err != nil {
			p.answerError(err)
		}
	})
}

// admitAndHandle checks access and calls the handler. The order matters: who asks is known first, so that everything
// from then on is recorded under their name in the audit trail.
func (p *Page) admitAndHandle() error {
	if err := p.identify(); err != nil {
		return err
	}
	p.SetActor(p.Person.User)
	if !p.Route.Access.allows(p.Person) {
		if p.Person.Known() {
			return imagegen.ErrNotFound
		}
		return p.askToSignIn()
	}
	// Only after access is known to be allowed: nobody else shall learn that an operator's page exists.
	if p.Route.Access == Operator && p.OperatorsNeedPasskey {
		have, err := p.Logins.Passkeys(p.Context(), p.Person.ID)
		if err != nil {
			return err
		}
		if len(have) == 0 {
			return p.RedirectWith("Operators need a passkey here. Make one first, below.", "account")
		}
	}
	err := p.Route.Handler(p)
	if !p.begun && signedOut(err) { // while the form came, or the page waited
		return p.askToSignIn()
	}
	return err
}

// askToSignIn answers somebody who is not signed in, or not any more.
func (p *Page) askToSignIn() error {
	if p.Route.Access == Typing && !p.Scripted() {
		return p.renderExpired()
	}
	return p.redirectToSignIn()
}

// recoverPanic answers a request whose handler panicked, and must be deferred. An answer that has begun is cut off, so
// that nobody takes it for a complete one. It panics with http.ErrAbortHandler, which net/http does not log.
func (p *Page) recoverPanic() {
	v := recover()
	if v == nil {
		return
	}
	if v != http.ErrAbortHandler { // otherwise answerError, or net/http, wants the connection cut
		err := fmt.Errorf("console: a handler panicked: %v\n%s", v, debug.Stack())
		if !p.begun {
			p.answerError(err)
			return
		}
		p.logError(err)
	}
	panic(http.ErrAbortHandler)
}

// Context is the request's.
func (p *Page) Context() context.Context { return p.Request.Context() }

// Detach lets the rest of the request be carried out even if the browser hangs up.
func (p *Page) Detach() { p.Request = p.Request.WithContext(context.WithoutCancel(p.Context())) }

// Query is that of the request's address.
func (p *Page) Query() url.Values { return p.Request.URL.Query() }

// Service is the engine as the signed-in person may use it: it returns only what belongs to them.
func (p *Page) Service() *engine.Session {
	if p.session != nil {
		return p.session
	}
	return p.Engine.As(p.Person.ID)
}

// view is the data of layout.html.
type view struct {
	Section string
	Person  Person
	Team    bool   // the navigation leads to the person's team
	Flash   string // what the previous request did; "": nothing to tell
	Data    any    // of the page's own template
}

// Render answers with a page: the template of that name, within the layout.
func (p *Page) Render(name string, data any) error { return p.RenderStatus(http.StatusOK, name, data) }

// RenderForms is Render for a page with forms: with status 422 if one of them has faults.
func (p *Page) RenderForms(name string, data any, forms ...*form.Form) error {
	if slices.ContainsFunc(forms, func(f *form.Form) bool { return !f.Valid() }) {
		return p.RenderStatus(http.StatusUnprocessableEntity, name, data)
	}
	return p.Render(name, data)
}

// RenderStatus is Render with another status.
func (p *Page) RenderStatus(status int, name string, data any) error {
	return p.writeBlock(status, name, "layout", view{p.Route.Section, p.Person, p.hasTeam(), p.takeFlash(), data})
}

// RenderBlock answers with one block of a page's template, without the layout, for a script to insert.
func (p *Page) RenderBlock(name, block string, data any) error {
	return p.writeBlock(http.StatusOK, name, block, data)
}

// writeBlock executes a template and sends the result. It sends nothing before all of it is there: a template that
// fails half way must not leave half a page.
func (p *Page) writeBlock(status int, name, block string, data any) error {
	b, err := p.build(name, block, data)
	if err != nil {
		return err
	}
	w := p.Stream("text/html; charset=utf-8")
	p.Writer.WriteHeader(status)
	b.text.WriteTo(w) // an error means that the browser has gone
	return nil
}

// Stream begins an answer and returns the writer for it. The caller sets other headers before.
func (p *Page) Stream(contentType string) http.ResponseWriter {
	p.begun = true
	p.Writer.Header().Set("Content-Type", contentType)
	return p.Writer
}

// NoContent answers a script that polls: nothing has changed, so the page stays as it is.
func (p *Page) NoContent() error {
	p.begun = true
	p.Writer.WriteHeader(http.StatusNoContent)
	return nil
}

// Redirect sends the browser on to a path below Config.Root; see Address.
func (p *Page) Redirect(segments ...string) error { return p.RedirectTo(p.Address(segments...)) }

// RedirectWith is Redirect after a change, with a message on the next page.
func (p *Page) RedirectWith(message string, segments ...string) error {
	p.SetFlash(message)
	return p.Redirect(segments...)
}

// RedirectTo sends the browser on to an address, by a GET (303). A script that fetches part of a page would insert what
// the redirect leads to, so htmx is made to load the address as a page instead.
func (p *Page) RedirectTo(address string) error {
	p.begun = true
	if p.Scripted() {
		p.Writer.Header().Set("HX-Redirect", address)
		p.Writer.WriteHeader(http.StatusNoContent)
		return nil
	}
	p.Writer.Header().Set("Location", address)
	p.Writer.WriteHeader(http.StatusSeeOther)
	return nil
}

// Scripted reports whether a script asks for part of a page: htmx, or playground.js, which sends the same header.
func (p *Page) Scripted() bool { return p.Request.Header.Get("HX-Request") == "true" }

// NotFound answers every address that matches no other route.
func NotFound(*Page) error { return imagegen.ErrNotFound }

var errCrossOrigin = errors.New("console: the request comes from another site")
