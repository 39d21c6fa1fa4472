package browsertest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/imagegend/imagegend/imagegen/httpapi/openapi"
)

// read is an expression for all visible text, without blanks, of the page with the API's document, whose elements are
// in shadow trees.
const read = `((e) => {
	const text = (n) => n.nodeType === 3 ? n.data : n.nodeName === "STYLE" ? "" :
		[...(n.shadowRoot?.childNodes ?? []), ...n.childNodes].map(text).join(" ");
	return text(e).replace(/\s+/g, "");
})(document.body)`

// The page shows every operation of the document, loads nothing from another host, and can call the service.
func TestDocs(t *testing.T) {
	s := open(t)
	tab := s.tab() // which complains of what the Content-Security-Policy refused, and of what was not found
	tab.open(s.address+openapi.PagePath, 200)
	var document struct {
		Paths map[string]map[string]struct{ Summary string }
	}
	s.is.NoErr(json.Unmarshal(openapi.Document(), &document))
	s.is.True(len(document.Paths) > 5)
	for path, methods := range document.Paths {
		for _, operation := range methods {
			tab.reads(operation.Summary)
		}
		tab.reads(path)
	}
	elsewhere := evaluate[[]string](tab,
		`performance.getEntriesByType("resource").map((r) => r.name).filter((n) => !n.startsWith(location.origin) && !n.startsWith("data:"))`)
	s.is.Equal(len(elsewhere), 0)

	press := `[...document.querySelector("rapi-doc").shadowRoot.querySelectorAll("api-request")].find((e) => e.path === "/healthz").shadowRoot.querySelector("button[part~=btn-try]")`
	tab.do(chromedp.Evaluate[chromedp.Void](press + `.click()`))
	tab.reads(`"status": "ok"`)
}

// reads waits until a text is visible.
func (t *tab) reads(text string) {
	t.Helper()
	quoted, err := json.Marshal(strings.Join(strings.Fields(text), ""))
	t.is.NoErr(err)
	t.do(chromedp.WaitReady(chromedp.JSPath(read + `.includes(` + string(quoted) + `) ? document.body : null`)))
}
