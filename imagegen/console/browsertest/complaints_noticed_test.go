package browsertest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// The watch over a tab notices everything that other tests rely on it to notice.
func TestEyes(t *testing.T) {
	s := open(t)
	for name, c := range map[string]struct{ body, want string }{
		"console":   {`<script>console.error("it is", "broken")</script>`, "console.error: it is broken"},
		"warning":   {`<script>console.warn("careful")</script>`, "console.warning: careful"},
		"exception": {`<script>undefinedFunction()</script>`, "exception: Uncaught ReferenceError: undefinedFunction"},
		"rejection": {`<script>Promise.reject(new Error("nobody listens"))</script>`, "Error: nobody listens"},
		"style":     {`<p style="color:red">red</p>`, "violates the policy: style-src-attr inline"},
		"host":      {`<img src="http://127.0.0.2:9/x.png">`, "another host is asked: http://127.0.0.2:9/x.png"},
		"missing":   {`<img src="/missing.png">`, "status of 404"},
		"fragment":  {`<script>fetch("/missing.json")</script>`, "status of 404"},
	} {
		page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Security-Policy",
				"default-src 'self' http://127.0.0.2:9; script-src 'self' 'unsafe-inline'")
			fmt.Fprintf(w, `<!doctype html><link rel="icon" href="data:,"><title>x</title>%s`, c.body)
		}))
		tab := s.anyTab()
		tab.eyes.allow(page.URL)
		tab.open(page.URL, 200)
		if !tab.eyes.comes(c.want) {
			t.Errorf("%s: seen: %q; want: %s", name, tab.eyes.complaints(), c.want)
		}
		page.Close()
	}
}

// An expected failure that did not come is reported, too.
func TestEyesExpect(t *testing.T) {
	s := open(t)
	tab := s.anyTab()
	tab.eyes.patience = 0
	tab.eyes.expect(404)
	tab.open("signin", 200)
	s.is.Equal(tab.eyes.complaints(), []string{"no failure with status 404 was reported"})
}
