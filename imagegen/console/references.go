package console

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// ownImageField is the name of the person's own images in the playground's form and address. Their order among each other and
// among the files that are sent is that of the references.
const ownImageField = "reference"

// A person's own image is named by its identifier. One that was sent with a generation has none, and is named by that and its
// place among the references, as long as the file is kept.
const placeSeparator = "."

// sentName names the n-th reference of a generation.
func sentName(id imagegen.GenerationID, n int) string {
	return string(id) + placeSeparator + strconv.Itoa(n)
}

// sentImage is the image that sentName named; ErrNotFound also if the name is no such one.
func sentImage(ctx context.Context, s *engine.Session, name string) (*engine.SentImage, error) {
	id, place, _ := strings.Cut(name, placeSeparator)
	n, err := strconv.Atoi(place)
	if err != nil {
		return nil, imagegen.ErrNotFound
	}
	return s.SentImage(ctx, imagegen.GenerationID(id), n)
}

// ownImage is the image of a name.
func ownImage(ctx context.Context, s *engine.Session, name string) (imagegen.Reference, error) {
	if strings.Contains(name, placeSeparator) {
		return sentImage(ctx, s, name)
	}
	return s.OwnImage(ctx, imagegen.ImageID(name))
}

// images are the names of those of the person's own that the form holds.
func (f *form) images() []string { return f.values[ownImageField] }

// fileNames are what a sample calls the images of the form.
func (f *form) fileNames() (all []string) {
	for _, id := range f.values[ownImageField] {
		all = append(all, id+".png")
	}
	return all
}

// OwnImages are the images of the form, as the page shows them.
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

// rearrange does with the form's images what the button that sent it says: add one, remove one, or move one forward. A
// button that is no longer true changes nothing.
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

// vary makes of the form one that asks for what a generation was asked for, but not for its seed: that would make the
// same images again.
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
