package playground

import (
	"slices"
	"strconv"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// ownImageField is the field for the person's own images, in the playground's form and in its address. In the form, the
// order of these fields and of the files is that of the references.
const ownImageField = "reference"

// ownImages are the names of the person's own images in the form, in order. They are unchecked.
func ownImages(f *form.Form) []string { return f.Values[ownImageField] }

// fileNames are the file names that samples use for the person's own images.
func fileNames(f *form.Form) (all []string) {
	for _, id := range f.Values[ownImageField] {
		all = append(all, id+".png")
	}
	return all
}

// OwnImages are the person's own images in the form, for the page.
func (v playgroundView) OwnImages() (all []chosenImage) {
	for i, name := range ownImages(v.Form) {
		all = append(all, chosenImage{name, i})
	}
	return all
}

// chosenImage is one of the person's own images in the form.
type chosenImage struct {
	Name  string
	Index int // in the order of the form
}

// Number counts from 1.
func (i chosenImage) Number() int { return i.Index + 1 }

// rearrangeImages applies the button that sent the form to its images: it adds one, removes one, or moves one forward.
// A button that no longer fits, such as after a second press, changes nothing.
func rearrangeImages(f *form.Form) {
	all := f.Values[ownImageField]
	if id := f.Value("use"); id != "" && !slices.Contains(all, id) {
		all = append(all, id)
	}
	what, which, _ := strings.Cut(f.Value("show"), ":")
	if i, err := strconv.Atoi(which); err == nil && i >= 0 && i < len(all) {
		switch {
		case what == "remove":
			all = slices.Delete(all, i, i+1)
		case what == "forward" && i > 0:
			all[i-1], all[i] = all[i], all[i-1]
		}
	}
	f.Values[ownImageField] = all
}

// fillVariation replaces the form with the request of a generation, for a variation of it. The seed is left out, since
// with it the model would make the same images. The token stays, so that a repeated form makes one variation, and so
// does the price that stood beside the button. If images of the generation are gone, the form has a fault.
func fillVariation(p *frame.Page, u *upload, id imagegen.GenerationID) error {
	f, gone, err := formOf(p, id)
	if err != nil {
		return err
	}
	for _, name := range []string{"token", "max_credits"} {
		f.Values.Set(name, u.Value(name))
	}
	f.Values.Del("seed")
	*u.Form = *f
	u.chooseImages(ownImages(f)...)
	if gone > 0 {
		u.AddFault(referenceField, "It was made with %s that %s not kept. Choose %s once more, or others.",
			format.Count(gone, "image", "images"), format.Plural(gone, "is", "are"), format.Plural(gone, "it", "them"))
	}
	return nil
}
