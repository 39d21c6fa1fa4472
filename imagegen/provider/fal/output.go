package fal

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/task"
)

// output is the response of image models: a list of images, or one.
type output struct {
	Images []file
	Image  file // of models that make one image; for others it has no URL
	// NSFW marks, in the order of Images, those that the safety checker has blackened.
	NSFW []bool `json:"has_nsfw_concepts"`
}

type file struct{ URL string }

// progress does not deliver images that the safety checker has blackened. Since they were
// refused, users do not pay for them.
func (o output) progress() task.Progress {
	p := task.Progress{Done: true}
	for i, f := range append(o.Images, o.Image) {
		switch {
		case f.URL == "":
		case i < len(o.NSFW) && o.NSFW[i]:
			p.Err = &imagegen.ProviderError{Class: imagegen.ClassRefused,
				Message: "the model's safety checker blackened an image"}
		default:
			p.Images = append(p.Images, f.URL)
		}
	}
	if len(p.Images) == 0 && p.Err == nil {
		p.Err = &imagegen.ProviderError{Class: imagegen.ClassUnknown, Message: "the output names no image"}
	}
	return p
}
