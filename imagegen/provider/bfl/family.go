package bfl

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// family is what the models whose names begin alike have in common. Fields, ranges and numbers are those of the API's
// specification (tryAGI/BlackForestLabs, openapi.json), and of docs.comfy.org for FLUX.3, whose endpoint refuses
// every field that it does not know.
type family struct {
	prefix     string
	references string // the field for references; "": the model takes none
	list       bool   // that field is a list; else each further reference has a numbered field of its own
	most       int    // the most references
	tolerance  int    // the highest safety_tolerance, which is the most permissive
	formats    bool   // output_format can be set
	noSeed     bool
	rules      imagegen.SizeRules       // if the model takes width and height
	sizes      []imagegen.Size          // all that it makes, if it takes a ratio; nil: it takes width and height
	resolution map[imagegen.Tier]string // what each tier is called, if it takes a resolution beside the ratio
}

// families are searched in their order; the first whose prefix fits counts. The last has no
// prefix: other names are taken for FLUX.2.
var families = []family{
	{prefix: "flux-3-", references: "images", list: true, most: 10, tolerance: 4, noSeed: true, sizes: flux3Sizes(),
		resolution: map[imagegen.Tier]string{imagegen.Tier1K: "1k", imagegen.Tier2K: "2k", imagegen.Tier4K: "4k"}},
	{prefix: "flux-2-klein", references: "input_image", most: 4, tolerance: 5, formats: true, rules: Flux2()},
	{prefix: "flux-kontext", references: "input_image", most: 4, tolerance: 6, formats: true, sizes: kontextSizes},
	{prefix: "flux-pro-1.1-ultra", tolerance: 6, formats: true, sizes: ultraSizes},
	{prefix: "flux-pro-1.1", tolerance: 6, formats: true, rules: Flux1()},
	{prefix: "flux-dev", tolerance: 6, formats: true, rules: Flux1()},
	{references: "input_image", most: 8, tolerance: 5, formats: true, rules: Flux2()},
}

func familyOf(model string) family {
	return families[slices.IndexFunc(families, func(f family) bool { return strings.HasPrefix(model, f.prefix) })]
}

// declare adds the options that requests can use. Of the formats, these are the two on which all descriptions agree.
// The specification also has webp, so that Config.OutputFormat can be webp; but docs.bfl.ai does not have it, nor have
// the schemas of FLUX.2 at docs.comfy.org/development/comfy-router/models/black-forest-labs.
func (f family) declare(can imagegen.Capabilities) imagegen.Capabilities {
	if f.formats {
		can.Formats = []imagegen.Format{imagegen.FormatPNG, imagegen.FormatJPEG}
	}
	if !f.noSeed {
		can.MaxSeed = math.MaxInt32 // the specification says integer; every implementation holds as much
	}
	return can
}

// byPixels reports whether a model takes width and height.
func (f family) byPixels() bool { return f.sizes == nil }

// flux3Sizes are the usual sizes of the ratios that FLUX.3 knows. Its classes of resolution are documented, their
// numbers of pixels are not: the images are expected to be no smaller than the usual sizes.
func flux3Sizes() (all []imagegen.Size) {
	for _, t := range imagegen.Tiers() {
		for _, ratio := range []imagegen.Ratio{"1:1", "4:3", "3:4", "3:2", "2:3", "16:9", "9:16", "5:4", "4:5", "21:9",
			"9:21", "2:1", "1:2"} {
			all = append(all, imagegen.SizeFor(ratio, t))
		}
	}
	return all
}

// setSize adds the fields that say the size.
func (f family) setSize(fields map[string]any, size imagegen.Size) {
	if f.byPixels() {
		fields["width"], fields["height"] = size.Width, size.Height
		return
	}
	fields["aspect_ratio"] = imagegen.NearestRatio(size, imagegen.Ratios())
	if f.resolution != nil {
		fields["resolution"] = f.resolution[imagegen.TierOf(size.Area())]
	}
}

// setReferences adds the fields with the references.
func (f family) setReferences(fields map[string]any, images []string) {
	if f.list && len(images) > 0 {
		fields[f.references] = images
		return
	}
	for i, image := range images {
		name := f.references
		if i > 0 {
			name = fmt.Sprintf("%s_%d", f.references, i+1)
		}
		fields[name] = image
	}
}

// kontextSizes are what the Kontext models make of a ratio (black-forest-labs/flux, src/flux/util.py).
var kontextSizes = withTurned(imagegen.Size{Width: 1024, Height: 1024}, imagegen.Size{Width: 1184, Height: 880},
	imagegen.Size{Width: 1248, Height: 832}, imagegen.Size{Width: 1392, Height: 752}, imagegen.Size{Width: 1456,
		Height: 720},
	imagegen.Size{Width: 1568, Height: 672})

// ultraSizes are what FLUX1.1 ultra makes of a ratio (runware.ai/docs/models/bfl-flux-1-1-pro-ultra).
var ultraSizes = withTurned(imagegen.Size{Width: 2048, Height: 2048}, imagegen.Size{Width: 2368, Height: 1792},
	imagegen.Size{Width: 2496, Height: 1664}, imagegen.Size{Width: 2752, Height: 1536}, imagegen.Size{Width: 3136,
		Height: 1344})

// withTurned adds to each landscape size the portrait size with the edges exchanged.
func withTurned(landscape ...imagegen.Size) (all []imagegen.Size) {
	for _, z := range landscape {
		all = append(all, z)
		if z.Width != z.Height {
			all = append(all, imagegen.Size{Width: z.Height, Height: z.Width})
		}
	}
	return all
}
