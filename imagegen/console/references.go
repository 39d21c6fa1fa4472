package console

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// ownImageField is the field for the person's own images, in the playground's form and in its address. In the form, the
// order of these fields and of the files is that of the references.
const ownImageField = "reference"

// placeSeparator occurs only in names of uploaded references. A generated image is named by its identifier. An uploaded
// reference has none: its name is the identifier of the generation with which it was sent, the separator, and its place
// among the references. The name is valid as long as the service keeps the file.
const placeSeparator = "."

// sentName names the n-th reference of a generation, from 0.
func sentName(id imagegen.GenerationID, n int) string {
	return string(id) + placeSeparator + strconv.Itoa(n)
}

// sentImage returns the reference with a name made by sentName. ErrNotFound: there is none, it is not the user's, or
// it is no longer kept; also if the name is none of sentName.
func sentImage(ctx context.Context, s *engine.Session, name string) (*engine.SentImage, error) {
	id, place, _ := strings.Cut(name, placeSeparator)
	n, err := strconv.Atoi(place)
	if err != nil {
		return nil, imagegen.ErrNotFound
	}
	return s.SentImage(ctx, imagegen.GenerationID(id), n)
}

// ownImage returns the user's image of either kind with this name. ErrNotFound.
func ownImage(ctx context.Context, s *engine.Session, name string) (imagegen.Reference, error) {
	if strings.Contains(name, placeSeparator) {
		return sentImage(ctx, s, name)
	}
	return s.OwnImage(ctx, imagegen.ImageID(name))
}

// images are the names of the person's own images in the form, in order. They are unchecked.
func (f *form) images() []string { return f.values[ownImageField] }

// fileNames are the file names that samples use for the person's own images.
func (f *form) fileNames() (all []string) {
	for _, id := range f.values[ownImageField] {
		all = append(all, id+".png")
	}
	return all
}

// OwnImages are the person's own images in the form, for the page.
func (v playgroundView) OwnImages() (all []chosenImage) {
	for i, name := range v.Form.images() {
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

// rearrange applies the button that sent the form to its images: it adds one, removes one, or moves one forward. A
// button that no longer fits, such as after a second press, changes nothing.
func (f *form) rearrange() {
	all := f.values[ownImageField]
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
	f.values[ownImageField] = all
}

// vary replaces the form with the request of a generation, for a variation of it. The seed is left out, since with it
// the model would make the same images. The token stays, so that a repeated form makes one variation. If images of
// the generation are gone, the form has a fault.
func (c *Console) vary(p *page, u *upload, id imagegen.GenerationID) error {
	f, gone, err := c.settings(p, id)
	if err != nil {
		return err
	}
	f.values.Set("token", u.Value("token"))
	f.values.Del("seed")
	*u.form = *f
	u.choose(f.images()...)
	if gone > 0 {
		u.addFault(referenceField, "It was made with %s that %s not kept. Choose %s once more, or others.",
			count(gone, "image", "images"), plural(gone, "is", "are"), plural(gone, "it", "them"))
	}
	return nil
}
