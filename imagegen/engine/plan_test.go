package engine_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// A model that takes no reference images is not said to take at most 0 of them.
func TestReferencesForAModelThatTakesNone(t *testing.T) {
	is := is.New(t)
	h := start(t, &scripted{})
	_, err := h.generate(imagegen.GenerateRequest{References: []imagegen.Reference{bytesReference(pngOf(32, 32))}})
	is.True(isCode(err, imagegen.ErrInvalidRequest))
	is.True(strings.Contains(err.Error(), `model "m" takes no reference images; send none`))
}
