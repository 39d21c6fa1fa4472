package console

import (
	"embed"
	"html/template"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen"
)

//go:embed templates
var sources embed.FS

// shared are the files whose templates every page can use.
var shared = []string{"templates/layout.html", "templates/parts.html", "templates/ledger.html", "templates/pictures.html"}

// parseTemplates returns a set of templates for each page: the shared ones, and those of the page's own file. The sets
// are separate, since each page defines "title" and "main", which the layout calls.
func (c *Console) parseTemplates() (map[string]*template.Template, error) {
	// The functions must be known before the files are parsed.
	base, err := template.New("").Funcs(c.functions()).ParseFS(sources, shared...)
	if err != nil {
		return nil, err
	}
	files, err := fs.Glob(sources, "templates/*.html")
	if err != nil {
		return nil, err
	}
	sets := map[string]*template.Template{}
	for _, file := range files {
		if slices.Contains(shared, file) {
			continue
		}
		t, err := template.Must(base.Clone()).ParseFS(sources, file) // a set that was never executed can be cloned
		if err != nil {
			return nil, err
		}
		sets[strings.TrimSuffix(path.Base(file), ".html")] = t
	}
	return sets, nil
}

// functions are what templates can call in addition to the functions of html/template.
func (c *Console) functions() template.FuncMap {
	return template.FuncMap{
		"path":        c.path,
		"asset":       c.asset,
		"brand":       func() string { return c.brand.name },
		"brandStyle":  func() string { return c.brandFile(brandStyle) },
		"brandLogo":   func() string { return c.brandFile(brandSVG, brandPNG) },
		"system":      func() bool { return c.cfg.Operations != nil },
		"trail":       func() bool { return c.cfg.Engine.Trail() != nil },
		"provider":    c.provider,
		"field":       newField,
		"credits":     credits,
		"number":      amount,
		"ago":         ago,
		"failures":    failures,
		"share":       share,
		"initial":     initial,
		"plural":      plural,
		"reference":   reference,
		"space":       space,
		"iso":         func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"moment":      moment,
		"day":         dayOf,
		"minPassword": func() int { return minPassword },
		"maxPassword": func() int { return maxPassword },
		"seconds":     inSeconds,
		"list":        func(items ...any) []any { return items },
	}
}

// moment formats a time as pages show it until a script replaces it with the reader's own time zone.
func moment(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") }

// dayOf formats the day of a time, in UTC.
func dayOf(t time.Time) string { return t.UTC().Format("2 Jan 2006") }

// credits formats an amount with separators: 12,345.
func credits(n imagegen.Credits) string { return thousands(int64(n)) }

// amount is credits for any signed integer, whatever its type; it panics on other values.
func amount(n any) string { return thousands(reflect.ValueOf(n).Int()) }

// thousands uses U+2212 for a minus, which is as wide as a plus.
func thousands(n int64) string {
	digits, sign := strconv.FormatInt(n, 10), ""
	if n < 0 {
		digits, sign = digits[1:], "\u2212"
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// plural chooses the word that fits a number: 1 image, 2 images. It accepts any signed integer.
func plural(n any, one, many string) string {
	if v := reflect.ValueOf(n); v.CanInt() && v.Int() == 1 {
		return one
	}
	return many
}

// count formats a number with the word that fits it.
func count(n int, one, many string) string { return strconv.Itoa(n) + " " + plural(n, one, many) }

// initial is the first letter of a name, as a capital.
func initial(name string) string {
	r, _ := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(r))
}
