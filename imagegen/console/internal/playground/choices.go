package playground

import (
	"slices"
	"strconv"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
	"github.com/imagegend/imagegend/imagegen/console/internal/gallery"
)

// choice is a radio button of the playground.
type choice struct {
	Name, Value string
	Label       string
	Note        string           // beneath the label
	Chosen      bool             // the form holds it
	Shape       *gallery.Outline // drawn above the label; nil: none
}

// choice returns a radio button for a value of one of the form's fields.
func (v playgroundView) choice(name, value, label, note string) choice {
	return choice{Name: name, Value: value, Label: label, Note: note, Chosen: v.Form.Value(name) == value}
}

// Shapes are the ratios that the model offers, and last the choice of an exact size.
func (v playgroundView) Shapes() (all []choice) {
	for _, r := range v.Model.Ratios {
		c := v.choice("ratio", string(r), string(r), "")
		if r == imagegen.RatioAuto {
			c.Label = "Auto"
		}
		s := gallery.OutlineOf(imagegen.Size{}, r)
		c.Shape = &s
		all = append(all, c)
	}
	own := v.choice("ratio", exactSize, "Exact", "")
	own.Shape = &gallery.Outline{X: 8, Y: 8, Width: 24, Height: 24}
	return append(all, own)
}

// usualShapes are the shapes to show at first; the others unfold.
var usualShapes = []string{string(imagegen.RatioAuto), "1:1", "4:3", "16:9", "9:16"}

// UsualShapes are those of the model's shapes that are among usualShapes.
func (v playgroundView) UsualShapes() []choice { return v.shapes(true) }

// MoreShapes are the others.
func (v playgroundView) MoreShapes() []choice { return v.shapes(false) }

// shapes returns those of Shapes that are, or are not, among usualShapes. The exact size is not.
func (v playgroundView) shapes(first bool) []choice {
	return slices.DeleteFunc(v.Shapes(), func(c choice) bool { return slices.Contains(usualShapes, c.Value) != first })
}

// FurtherShape reports whether the chosen shape is one of MoreShapes, which are then unfolded.
func (v playgroundView) FurtherShape() bool {
	return slices.ContainsFunc(v.MoreShapes(), func(c choice) bool { return c.Chosen })
}

// ChoosesFormat and ChoosesBackground report whether the model leaves a choice. They also do if the form has a fault
// there, such as after a change of the model: the user must see the field to correct it.
func (v playgroundView) ChoosesFormat() bool {
	return len(v.Model.Formats) > 1 || v.Form.Fault("output_format") != ""
}
func (v playgroundView) ChoosesBackground() bool {
	return slices.Contains(v.Model.Backgrounds, imagegen.BackgroundTransparent) || v.Form.Fault("background") != ""
}

// ChoosesSeed reports the same for the seed.
func (v playgroundView) ChoosesSeed() bool { return v.Model.MaxSeed > 0 || v.Form.Fault("seed") != "" }

// moreSettings are the fields that few need, which unfold.
var moreSettings = []string{"output_format", "background", "seed"}

// ChoosesMore reports whether there are any of moreSettings, and ChoseMore whether one is filled in or has a fault.
func (v playgroundView) ChoosesMore() bool {
	return v.ChoosesFormat() || v.ChoosesBackground() || v.ChoosesSeed()
}
func (v playgroundView) ChoseMore() bool { return v.Form.Touched(moreSettings...) }

// Referring reports whether the form has references or a mask, or needs them to be looked at.
func (v playgroundView) Referring() bool {
	return len(v.OwnImages()) > 0 || v.Lost || v.Form.Touched("reference_image", "mask")
}

// Tiers are the resolutions of the model, each with its price.
func (v playgroundView) Tiers() (all []choice) {
	for _, t := range v.Model.Tiers {
		all = append(all, v.choice("tier", string(t), string(t), format.Amount(v.Model.Credits[t])))
	}
	return all
}

// Formats are the file formats of the model.
func (v playgroundView) Formats() []form.Option {
	labels := map[imagegen.Format]string{imagegen.FormatPNG: "PNG", imagegen.FormatJPEG: "JPEG",
		imagegen.FormatWebP: "WebP"}
	all := form.Options("", "As the model makes it")
	for _, f := range v.Model.Formats {
		all = append(all, form.Options(string(f), labels[f])...)
	}
	return all
}

// Backgrounds are what can be behind the subject.
func (v playgroundView) Backgrounds() []form.Option {
	labels := map[imagegen.Background]string{imagegen.BackgroundOpaque: "Opaque",
		imagegen.BackgroundTransparent: "Transparent"}
	all := form.Options("", "As the model chooses")
	for _, b := range v.Model.Backgrounds {
		if b != imagegen.BackgroundAuto {
			all = append(all, form.Options(string(b), labels[b])...)
		}
	}
	return all
}

// Numbers are how many images can be asked for.
func (v playgroundView) Numbers() (all []choice) {
	for n := range v.Model.MaxImages {
		s := strconv.Itoa(n + 1)
		all = append(all, v.choice("n", s, s, ""))
	}
	return all
}

// Qualities are how much effort can be asked for.
func (v playgroundView) Qualities() (all []choice) {
	labels := map[imagegen.Quality]string{imagegen.QualityAuto: "Auto", imagegen.QualityLow: "Low",
		imagegen.QualityMedium: "Medium", imagegen.QualityHigh: "High"}
	for _, q := range imagegen.Qualities() {
		all = append(all, v.choice("quality", string(q), labels[q], ""))
	}
	return all
}
