package webapi

import (
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// Usage are the paths, written as in Config.Images, of numbers in an answer: what its price is counted in, tokens, and
// seconds of the upstream's machines. Several numbers at a path, in a list, are added up. "": an answer does not say.
type Usage struct{ Units, TextInput, ImageInput, TextOutput, ImageOutput, Seconds string }

// paths are those that are set.
func (u Usage) paths() []string {
	all := []string{u.Units, u.TextInput, u.ImageInput, u.TextOutput, u.ImageOutput, u.Seconds}
	return slices.DeleteFunc(all, func(path string) bool { return path == "" })
}

// of returns what a number at a path says.
func (u Usage) of(path, number string) imagegen.UpstreamUsage {
	at := func(wanted string) string {
		if wanted == "" || wanted != path {
			return ""
		}
		return number
	}
	return imagegen.UpstreamUsage{TextInput: upstream.Count(at(u.TextInput)),
		ImageInput: upstream.Count(at(u.ImageInput)), TextOutput: upstream.Count(at(u.TextOutput)),
		ImageOutput: upstream.Count(at(u.ImageOutput)), Units: upstream.Micros(at(u.Units)),
		Time: upstream.Seconds(at(u.Seconds))}
}
