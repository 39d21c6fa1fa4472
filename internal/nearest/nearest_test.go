package nearest_test

import (
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/internal/nearest"
)

func TestHint(t *testing.T) {
	known := []string{"addr", "data-dir", "base-url", "retain", "model", "models"}
	for word, want := range map[string]string{
		"data_dir":  `; did you mean "data-dir"?`,
		"adr":       `; did you mean "addr"?`,
		"retention": `; did you mean "retain"?`,
		"modles":    `; did you mean "models"?`,
		"colour":    "",
		"":          "",
	} {
		t.Run(word, func(t *testing.T) {
			is := is.New(t)
			is.Equal(nearest.Hint(word, known), want)
		})
	}
}

func TestHintOrAll(t *testing.T) {
	is := is.New(t)
	known := []string{"addr", "data-dir"}
	is.Equal(nearest.HintOrAll("adr", known), `; did you mean "addr"?`)
	is.Equal(nearest.HintOrAll("colour", known), "; there are: addr, data-dir")
}
