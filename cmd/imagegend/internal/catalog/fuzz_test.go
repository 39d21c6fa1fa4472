package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// Any models.yaml is refused with an error that names the file and shows no secret, or its models have a valid id,
// provider and prices.
func FuzzLoad(f *testing.F) {
	const secret = "sk-canary"
	db := memory.New(nil)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "/") {
			return // it could name any file of this machine
		}
		is, dir := is.New(t), t.TempDir()
		path := filepath.Join(dir, "models.yaml")
		is.NoErr(os.WriteFile(path, []byte(text), 0o600))
		is.NoErr(os.WriteFile(filepath.Join(dir, "key"), []byte(secret), 0o600))
		models, err := catalog.Load(path, catalog.Options{Getenv: func(name string) string {
			if name == "KEY" {
				return secret
			}
			return ""
		}})
		if err != nil {
			is.True(strings.HasPrefix(err.Error(), path))
			is.True(!strings.Contains(err.Error(), secret) || strings.Contains(text, secret))
			return
		}
		is.True(len(models) > 0)
		for _, m := range models {
			is.True(m.ID != "" && m.Provider.Name() != "" && len(m.Credits) > 0)
			for _, price := range m.Credits {
				is.True(price.Valid())
			}
		}
		_, err = engine.New(engine.Config{Store: db, Ledger: db, Models: models})
		is.True(err == nil || !strings.Contains(err.Error(), secret))
	})
}
