// Package catalog reads models and prices from models.yaml:
//
//	models:
//	  - id: fake-1
//	    provider: {type: fake}
//	    credits: {1K: 1, 2K: 2, 4K: 4}    # of one image; a tier without a price is not on offer
//	    prices:                           # under conditions: the first line that fits; optional
//	      - {quality: high, account_type: PRO, references: 1, mask: true, credits: 9, reference_credits: 1}
//	    reference_credits: 1              # added for each reference image; optional
//	    cost: {image: 0.04}               # what the upstream charges; optional
//	    max_effort: {4K: medium}          # caps the quality that is handed to the provider; optional
//	    ratios: [auto, "1:1", "16:9"]     # narrow what the provider can do; optional
//	    max_references: 16
//	    max_images: 4
//	    max_prompt: 32000
//	    max_concurrent: 64                # attempts under way at once; optional
//	    aliases: [gpt-image-1]            # other names, under /v1; optional
//	    retired: true                     # hidden from callers, kept for accepted work; optional
//
// The keys of a provider are those of its type. Secrets are in the environment or in files of their own; paths of
// files are relative to models.yaml.
//
// The file is strict: an unknown or repeated key, a value of another type, a second document, and a model that its
// provider cannot serve are errors that name line, model and key. All of them are reported together.
//
// The package has no list of keys. A block fills a struct: engine.Model, or the Config of a provider's package. The
// fields are the keys (strict.go), their types say what a value may be (values.go), and kinds.go says which struct
// belongs to which type of provider.
package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/yamlfile"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// Options are what the program decides for all models, and the file cannot.
type Options struct {
	// Certain prompts make the fake provider kill the process: for development only.
	AllowCrash bool
	Getenv     func(string) string // nil: os.Getenv
	Log        *slog.Logger        // for what providers notice; nil: silent
	Policy     string              // under which prices must be reached, one of Policies; "": the engine's default
}

// Policies are the values of --policy, and none, which stands for the engine's default.
var Policies = map[string]engine.Policy{"": nil, "size-first": engine.SizeFirst, "quality-first": engine.QualityFirst}

// Fake takes the place of a file name and means the built-in model that draws test pictures.
const Fake = "fake"

// Default lists the model that Fake means.
func Default(o Options) []engine.Model {
	return []engine.Model{{
		ID:       "fake-1",
		Provider: o.fake(nil),
		Credits:  map[imagegen.Tier]imagegen.Credits{imagegen.Tier1K: 1, imagegen.Tier2K: 2, imagegen.Tier4K: 4},
	}}
}

// Load reads the models of a file, and the files and environment variables that it names. It sends nothing, so an
// upstream that is away is not an error. Each call reads everything anew and makes new providers. For Fake it reads
// nothing.
func Load(path string, o Options) ([]engine.Model, error) {
	if path == Fake {
		return Default(o), nil
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no models file %s; write one as docs/operating.md shows under Models and prices, or name another; "+
			"--models fake draws test pictures and charges for them", path)
	}
	if err != nil {
		return nil, fmt.Errorf("the models file cannot be read: %w", err)
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	models, err := source{o, filepath.Dir(path)}.models(content)
	if err != nil {
		return nil, yamlfile.InFile(path, err)
	}
	return models, nil
}

// source is what the reading of a file depends on beside its text.
type source struct {
	Options
	dir string // where relative paths start
}

// path returns where a file lies that models.yaml names.
func (s source) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.dir, name)
}

// models reads the whole file. Ids are checked before aliases, since an alias must not be the id of any model, also of
// one further down.
func (s source) models(text []byte) ([]engine.Model, error) {
	root, err := yamlfile.Document(text)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, errors.New("the file lists no model")
	}
	var list struct{ Models []listed }
	errs := []error{fillBlock(root, s.keys(reflect.ValueOf(&list).Elem()))}
	if list.Models == nil && errs[0] == nil {
		return nil, errAt(root, "the file lists no model")
	}
	var models []engine.Model
	lines := map[string]int{}
	for _, m := range list.Models {
		if line, taken := lines[m.ID]; taken {
			errs = append(errs, errAt(yamlfile.Lookup(m.at, "id"),
				"model %q stands at line %d already; give this one another id", m.ID, line))
		} else if m.ID != "" {
			lines[m.ID] = m.at.Line
		}
		models = append(models, m.Model)
	}
	return models, errors.Join(append(errs, checkAliases(list.Models, lines))...)
}
