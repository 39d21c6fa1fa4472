package httpapi

import (
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
	"github.com/imagegend/imagegend/internal/nearest"
)

// meant maps names that other services use to the fields that do the same here.
var meant = map[string]string{
	"aspect_ratio": "size", "ratio": "size", "resolution": "size", "width": "size", "height": "size",
	"num_images": "n", "count": "n", "image": "reference_image", "images": "reference_image",
	"format": "output_format",
}

// nearestField returns the known name that an unknown one means or comes closest to. A long name is
// cut before it is compared, since the caller chooses its length.
func nearestField(name string, known []string) string {
	name = strings.ToLower(serving.Shorten(name))
	if m := meant[name]; slices.Contains(known, m) {
		return m
	}
	return nearest.Name(name, known)
}
