package filename_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/internal/filename"
)

func TestOfPrompt(t *testing.T) {
	for prompt, want := range map[string]string{
		"a fox in the snow": "a-fox-in-the-snow", "  Ein FÜCHSLEIN!? ": "ein-füchslein",
		"../../etc/passwd": "etc-passwd", "狐 2": "狐-2", "": "image", "…": "image",
		strings.Repeat("ab ", 30): "ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-a",
	} {
		is.New(t).Equal(filename.OfPrompt(prompt), want)
	}
}

func TestExtension(t *testing.T) {
	is := is.New(t)
	is.Equal(filename.Extension("image/jpeg"), ".jpg")
	is.Equal(filename.Extension("image/png"), ".png")
	is.Equal(filename.Extension("image/webp"), ".webp")
}
