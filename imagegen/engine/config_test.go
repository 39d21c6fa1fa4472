package engine_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/engine"
)

// The document for programs has each field of Config in one of its groups.
func TestConfigIsDocumented(t *testing.T) {
	is := is.New(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "embedding.md"))
	is.NoErr(err)
	_, section, _ := strings.Cut(string(text), "\n## Config\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for field := range reflect.TypeFor[engine.Config]().Fields() {
		if field.IsExported() && !strings.Contains(section, "`"+field.Name+"`") {
			t.Errorf("docs/embedding.md has no group for Config.%s", field.Name)
		}
	}
}
