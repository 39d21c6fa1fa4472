// Package replicate is a provider over Replicate, which hosts models of many makers.
//
// Every model has an input of its own, so the configuration says how to fill it:
//
//	p, err := replicate.New(replicate.Config{
//		APIKey: key,
//		Model:  "black-forest-labs/flux-2-pro",
//		Template: provider.Template{
//			Input: map[string]any{
//				"prompt":       "{{prompt}}",
//				"aspect_ratio": "custom",
//				"width":        "{{width}}",
//				"height":       "{{height}}",
//				"input_images": "{{references}}",
//			},
//			SizeRules:     imagegen.SizeRules{Step: 16, MinEdge: 256, MaxEdge: 2048, MaxPixels: 2048 * 2048, MaxAspect: 4},
//			MaxReferences: 8,
//		},
//	})
//
// For a model that takes a ratio or a tier instead of pixels, list in Sizes what it makes, so
// that each request gets the size that it asks for:
//
//	Input: map[string]any{"prompt": "{{prompt}}", "aspect_ratio": "{{ratio}}", "num_outputs": "{{n}}"},
//	Sizes: []imagegen.Size{{Width: 1024, Height: 1024}, {Width: 1344, Height: 768}, {Width: 768, Height: 1344}},
//
// # Placeholders
//
//	{{prompt}}          the prompt; required
//	{{n}}               images that one prediction makes, up to MaxPerCall
//	{{width}}           and {{height}}: the size to make, as numbers
//	{{size}}            the same as text, 1024x768
//	{{ratio}}           the nearest ratio to that size, 4:3
//	{{tier}}            its tier, 1K, or what TierNames says, such as "1 MP"
//	{{quality}}         the effort: auto, low, medium or high
//	{{reference}}       the first reference image, as a data: URL
//	{{references}}      the list of all of them
//	{{each_reference}}  one of them; the innermost element of a list that contains it is repeated for each
//	{{seed}}            the seed that is asked for
//	{{background}}      opaque or transparent, if one of them is asked for
//	{{format}}          the format that is asked for, as FormatNames calls it
//	{{mask}}            the mask, as a data: URL: what is transparent is to be made anew
//	{{white_mask}}      the same in black and white: what is white is to be made anew
//
// A value that is a placeholder and nothing else becomes a number or a list where the table says so; within a longer
// text a placeholder becomes text. Those from {{reference}} on must be whole values. Their field is left out if the
// request has nothing for it. A prompt may contain the name of a placeholder.
//
// Requests can use the options that Input has a place for: a seed, a transparent background,
// the formats in FormatNames, and a mask.
//
// # The upstream
//
// From replicate.com/docs: POST /models/OWNER/NAME/predictions (official models), /predictions with a version
// (community models) or /deployments/OWNER/NAME/predictions answers with id, status, output, error and urls.get and
// urls.cancel. The status is starting or processing, then succeeded, failed, canceled, or aborted, which means that
// the prediction never began to run. Output is an address or a list of them, valid for an hour. 600 predictions may
// be created a minute; further ones are answered with 429. A prediction that moderation refused has failed like any
// other: only the words of its error tell. A data: URL is recommended for files under 1 MB. Larger references are
// sent as data: URLs too, which takes longer.
package replicate
