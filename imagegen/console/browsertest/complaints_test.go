package browsertest_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// eyes watch a tab for errors and warnings on the browser's console, violations of the Content-Security-Policy, and
// requests to another host.
type eyes struct {
	mu       sync.Mutex
	hosts    []string // that may be asked
	expected []int    // statuses of failures to come, each of which the browser reports
	seen     []string
	news     chan struct{} // that something else is seen
	patience time.Duration // for what is to come
}

// tell makes the page report violations of the policy, too: what the browser reports may change.
const tell = `addEventListener("securitypolicyviolation", (e) =>
	console.error("violates the policy:", e.violatedDirective, e.blockedURI, e.sourceFile, e.lineNumber))`

// watch starts watching a tab.
func (s *site) watch(tab context.Context) *eyes {
	s.Helper()
	e := &eyes{news: make(chan struct{}, 1), patience: patience}
	e.allow(s.address)
	s.is.NoErr(chromedp.Listen(tab, e.look))
	_, err := chromedp.Call(tab, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: tell})
	s.is.NoErr(err)
	return e
}

func (e *eyes) look(event any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.wake()
	switch v := event.(type) {
	case *runtime.EventConsoleAPICalled:
		switch v.Type {
		case runtime.ConsoleAPICalledTypeError, runtime.ConsoleAPICalledTypeWarning, runtime.ConsoleAPICalledTypeAssert:
			e.complain("console.%s: %s", v.Type, said(v.Args))
		}
	case *runtime.EventExceptionThrown:
		e.complain("exception: %s %s", v.ExceptionDetails.Text, v.ExceptionDetails.Exception.Description)
	case *log.EventEntryAdded:
		e.entry(v.Entry)
	case *network.EventRequestWillBeSent:
		e.request(v.Request.URL)
	}
}

// entry is a line in the browser's log. A page that answers with an error leaves one there.
func (e *eyes) entry(l *log.Entry) {
	if l.Level == log.EntryLevelInfo || l.Level == log.EntryLevelVerbose {
		return
	}
	for i, status := range e.expected {
		if l.Source == log.EntrySourceNetwork && strings.Contains(l.Text, fmt.Sprintf("responded with a status of %d ",
			status)) {
			e.expected = slices.Delete(e.expected, i, i+1)
			return
		}
	}
	e.complain("%s %s: %s (%s)", l.Source, l.Level, l.Text, l.URL)
}

func (e *eyes) request(address string) {
	at, err := url.Parse(address)
	local := err == nil && (at.Scheme == "data" || at.Scheme == "blob" || slices.Contains(e.hosts, at.Host))
	if !local {
		e.complain("another host is asked: %s", address)
	}
}

func (e *eyes) complain(format string, args ...any) {
	e.seen = append(e.seen, fmt.Sprintf(format, args...))
}

// allow permits requests to an address that is not the console's.
func (e *eyes) allow(address string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hosts = append(e.hosts, strings.TrimPrefix(address, "http://"))
}

// wake wakes those who wait for a complaint.
func (e *eyes) wake() {
	select {
	case e.news <- struct{}{}:
	default:
	}
}

// come waits for a condition on what was seen, and reports whether it was met.
func (e *eyes) come(it func() bool) bool {
	late := time.After(e.patience)
	for !it() {
		select {
		case <-e.news:
		case <-late:
			return it()
		}
	}
	return true
}

// comes reports whether there is a complaint that contains a text, or one arrives soon.
func (e *eyes) comes(text string) bool {
	return e.come(func() bool {
		return slices.ContainsFunc(e.sofar(), func(c string) bool { return strings.Contains(c, text) })
	})
}

// forget discards what was seen.
func (e *eyes) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen, e.expected = nil, nil
}

// expect says that a request will fail with a status.
func (e *eyes) expect(status int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.expected = append(e.expected, status)
}

// complaints are what was seen, and expected failures that did not come.
func (e *eyes) complaints() []string {
	e.come(func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return len(e.expected) == 0
	})
	return e.sofar()
}

func (e *eyes) sofar() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := slices.Clone(e.seen)
	for _, status := range e.expected {
		all = append(all, fmt.Sprintf("no failure with status %d was reported", status))
	}
	return all
}

func said(args []*runtime.RemoteObject) string {
	var words []string
	for _, a := range args {
		words = append(words, strings.Trim(string(a.Value), `"`)+a.Description)
	}
	return strings.Join(words, " ")
}
