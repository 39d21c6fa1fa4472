package fal

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/task"
)

// output is what image models answer with: a list of images, or one.
type output struct {
	Images []file
	Image  file
	// NSFW marks, in the order of Images, those that the safety checker has blackened.
	NSFW []bool `json:"has_nsfw_concepts"`
}

type file struct{ URL string }

// progress counts a blackened image as refused: nobody pays for a black one.
func (o output) progress() task.Progress {
	p := task.Progress{Done: true}
	for i, f := range append(o.Images, o.Image) {
		switch {
		case f.URL == "":
		case i < len(o.NSFW) && o.NSFW[i]:
			p.Err = &imagegen.ProviderError{Class: imagegen.ClassRefused, Message: "the model's safety checker blackened an image"}
		default:
			p.Images = append(p.Images, f.URL)
		}
	}
	if len(p.Images) == 0 && p.Err == nil {
		p.Err = &imagegen.ProviderError{Class: imagegen.ClassUnknown, Message: "the output names no image"}
	}
	return p
}
