package nearest

import (
	"slices"
	"strings"
)

// meant has what other services and programs call the fields of a request for images, without underscores, and what
// the field is called here: in the interfaces that have it, by the first of these names that they know. A name without
// any means something that is not to be had here, so that no other name is near it.
var meant = map[string][]string{
	"aspectratio": {"size"}, "ratio": {"size"}, "resolution": {"size"}, "width": {"size"}, "height": {"size"},
	"imagesize": {"size"}, "outputsize": {"size"}, "dimensions": {"size"},
	"num": {"n"}, "count": {"n"}, "numimages": {"n"}, "numberofimages": {"n"}, "numoutputs": {"n"}, "imagecount": {"n"},
	"samplecount": {"n"}, "numsamples": {"n"}, "samples": {"n"}, "batchsize": {"n"}, "maximages": {"n"},
	"candidatecount": {"n"}, "quantity": {"n"}, "amount": {"n"}, "number": {"n"}, "nimages": {"n"},
	"numberofoutputs": {"n"}, "outputcount": {"n"}, "image": references, "images": references, "imageurl": references,
	"imageurls": references, "inputimage": references, "inputimages": references, "imageinput": references,
	"initimage": references, "initimages": references, "imageprompt": references, "referenceimages": references,
	"references": references, "ref": references, "reference": references, "referenceimage": references,
	"referenceurl": references, "referenceimageurl": references, "maskimage": {"mask"}, "maskurl": {"mask"},
	"inpaintmask": {"mask"}, "format": {"output_format", "output-format"}, "imageformat": {"output_format",
		"output-format"},
	"mimetype": {"output_format", "output-format"}, "outputmimetype": {"output_format", "output-format"},
	"compression":   {"output_compression", "output-compression"},
	"outputquality": {"output_compression", "output-compression"}, "jpegquality": {"output_compression",
		"output-compression"},
	"transparent": {"background"}, "transparency": {"background"},
	"text": {"prompt"}, "textprompt": {"prompt"}, "description": {"prompt"}, "input": {"prompt"},
	"modelid": {"model"}, "modelname": {"model"}, "engine": {"model"},
	"effort": {"quality"}, "randomseed": {"seed"}, "enduser": {"user"}, "userid": {"user"},
	"mode": nil, "modes": nil, "modality": nil, "task": nil, "tasks": nil, "nodes": nil, "steps": nil, "speed": nil,
	"strength": nil, "scale": nil, "style": nil, "negativeprompt": nil,
}

// references are the names of reference images.
var references = []string{"reference_image", "references", "images", "image", "ref"}

// Field returns the known name of a field, parameter or flag that another name means: what other services call the
// same, else one that differs by a third of the letters at most. It returns "" if there is none, since a wrong hint
// costs more time than no hint. A number behind the name, as in image[0] or image_2, does not count.
func Field(name string, known []string) string {
	word := plain(name)
	for _, k := range known {
		if plain(k) == word {
			return k
		}
	}
	names, listed := meant[word]
	for _, n := range names {
		if slices.Contains(known, n) {
			return n
		}
	}
	if best := Name(name, known); !listed && best != "" && distance(name, best) <= (len(name)+1)/3 {
		return best
	}
	return ""
}

// IsForeign reports whether other services have a field, parameter or flag of that name, so that it is not misspelt.
func IsForeign(name string) bool {
	_, listed := meant[plain(name)]
	return listed
}

// plain is a name in small letters without what separates its words, and without a number behind it.
func plain(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), "[")
	return strings.TrimRight(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name), "0123456789")
}
