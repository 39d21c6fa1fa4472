package catalog_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
	"github.com/spf13/pflag"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
)

const root = "../../../.."

// blocks are the fenced blocks of a language in a document.
func blocks(document, language string) []string {
	var all []string
	fence := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$")
	for _, match := range fence.FindAllStringSubmatch(document, -1) {
		all = append(all, match[1])
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Every YAML block of the documentation is a file that works: of models, or of settings.
func TestDocumentedFiles(t *testing.T) {
	is := is.New(t)
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	is.NoErr(err)
	workflow := blocks(read(t, "docs/providers.md"), "json")
	is.Equal(len(workflow), 1)
	models := 0
	for _, path := range append(documents, filepath.Join(root, "README.md")) {
		for _, block := range blocks(read(t, strings.TrimPrefix(path, root)), "yaml") {
			if strings.HasPrefix(block, "models:") {
				models++
			}
			if strings.HasPrefix(block, "- name:") { // of webhooks, which package daemon reads
				continue
			}
			t.Run(filepath.Base(path), func(t *testing.T) {
				is := is.New(t)
				dir := t.TempDir()
				is.NoErr(os.Mkdir(filepath.Join(dir, "keys"), 0o700))
				for name, text := range map[string]string{"file.yaml": block, "sdxl.json": workflow[0],
					"keys/azure": "fake-key\n", "keys/bfl": "fake-key\n", "keys/vertex.json": serviceAccount} {
					is.NoErr(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
				}
				is.NoErr(loadBlock(filepath.Join(dir, "file.yaml"), strings.HasPrefix(block, "models:")))
			})
		}
	}
	is.True(models > 8)
}

func loadBlock(path string, models bool) error {
	if models {
		_, err := catalog.Load(path, catalog.Options{Getenv: func(string) string { return "fake-key" }})
		return err
	}
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(config.Settings).ServeFlags(fs)
	config.DeclareFile(fs)
	if err := fs.Parse([]string{"--config", path}); err != nil {
		return err
	}
	_, err := config.Load(fs)
	return err
}

// Each type of provider has a section, and it or the one on all types tells of every key.
func TestDocumentedKeys(t *testing.T) {
	document := read(t, "docs/providers.md")
	sections := map[string]string{}
	for _, s := range strings.Split(document, "\n## ")[1:] {
		title, text, _ := strings.Cut(s, "\n")
		sections[title] = text
	}
	for kind, keys := range catalog.Keys() {
		if kind == "fake" {
			continue
		}
		section, ok := sections[kind]
		if !ok {
			t.Errorf("docs/providers.md has no section on %s", kind)
		}
		for _, key := range keys {
			if !strings.Contains(section+sections["All types"], "`"+key+"`") {
				t.Errorf("docs/providers.md does not tell of key %s of %s", key, kind)
			}
		}
	}
}

// The code that the document shows is that of the example, which is tested.
func TestDocumentedCode(t *testing.T) {
	is := is.New(t)
	code := blocks(read(t, "docs/providers.md"), "go")
	is.Equal(len(code), 1)
	is.True(strings.Contains(read(t, "examples/provider/main.go"), code[0]))
}
