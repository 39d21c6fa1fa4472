package httpapi

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/imagegend/imagegend/internal/nearest"
)

// meant says which field does what others call by these names.
var meant = map[string]string{
	"aspect_ratio": "size", "ratio": "size", "resolution": "size", "width": "size", "height": "size",
	"num_images": "n", "count": "n", "image": "reference_image", "images": "reference_image", "mask": "reference_image",
}

// nearestField returns the known name that an unknown one comes closest to.
func nearestField(name string, known []string) string {
	name = strings.ToLower(shorten(name))
	if m := meant[name]; slices.Contains(known, m) {
		return m
	}
	return nearest.Name(name, known)
}

// longestShown is how much of what a caller sent is repeated in a message.
const longestShown = 40

func shorten(s string) string {
	if utf8.RuneCountInString(s) > longestShown {
		return string([]rune(s)[:longestShown]) + "…"
	}
	return s
}

// shown quotes what a caller sent.
func shown(s string) string { return strconv.Quote(shorten(s)) }
