package frame

import (
	"embed"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen/console/internal/brand"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
)

// Templates are the pages of a room: files in templates, one for each page, and parts.html for all of them.
type Templates struct {
	Files     fs.FS
	Functions template.FuncMap // for this room, in addition to those of the frame
}

//go:embed templates
var sources embed.FS

// parseTemplates returns a set of templates for each page: the shared ones, those that its room shares, and those of
// the page's own file. The sets are separate, since each page defines "title" and "main", which the layout calls.
func (f *Frame) parseTemplates(rooms []Templates) (map[string]*template.Template, error) {
	// The functions must be known before the files are parsed.
	base, err := template.New("").Funcs(f.functions()).ParseFS(sources, "templates/shared/*.html")
	if err != nil {
		return nil, err
	}
	sets := map[string]*template.Template{}
	for _, r := range append(rooms, Templates{Files: sources}) {
		if err := r.parsePages(template.Must(base.Clone()).Funcs(r.Functions), sets); err != nil {
			return nil, err
		}
	}
	return sets, nil
}

// parsePages puts the sets of a room's pages into sets.
func (r Templates) parsePages(base *template.Template, sets map[string]*template.Template) error {
	files, err := fs.Glob(r.Files, "templates/*.html")
	if err != nil {
		return err
	}
	const parts = "templates/parts.html"
	if slices.Contains(files, parts) {
		if _, err := base.ParseFS(r.Files, parts); err != nil {
			return err
		}
	}
	for _, file := range files {
		if file == parts {
			continue
		}
		t, err := template.Must(base.Clone()).ParseFS(r.Files, file) // a set that was never executed can be cloned
		if err != nil {
			return err
		}
		sets[strings.TrimSuffix(path.Base(file), ".html")] = t
	}
	return nil
}

// functions are what templates can call in addition to the functions of html/template.
func (f *Frame) functions() template.FuncMap {
	return template.FuncMap{
		"path":       f.Address,
		"hosted":     func() bool { return f.Host != nil },
		"signin":     func() string { return f.signInAddress("") },
		"signout":    f.signOutAddress,
		"asset":      f.asset,
		"brand":      f.Brand.DisplayName,
		"brandStyle": func() string { return f.brandFile(brand.StyleFile) },
		"brandLogo":  func() string { return f.brandFile(brand.SVGFile, brand.PNGFile) },
		"system":     func() bool { return f.System },
		"webhooks":   func() bool { return f.Webhooks },
		"trail":      func() bool { return f.Engine.Trail() != nil },
		"field":      form.NewField,
		"reference":  form.EnteredReference,
		"credits":    format.Credits,
		"number":     format.Number,
		"share":      format.Share,
		"space":      format.Bytes,
		"plural":     format.Plural,
		"initial":    format.Initial,
		"ago":        format.Ago,
		"excerpt":    format.Excerpt,
		"seconds":    format.Seconds,
		"span":       format.Span,
		"moment":     format.Moment,
		"day":        format.Day,
		"iso":        func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"list":       func(items ...any) []any { return items },
	}
}
