// Package fal is a provider over fal, which hosts models of many makers.
//
// Many models take the same few fields, which are the default of Input; only what differs is configured:
//
//	p, err := fal.New(fal.Config{
//		APIKey:    key,
//		Model:     "fal-ai/flux-2-pro",
//		EditModel: "fal-ai/flux-2-pro/edit",
//		Template: provider.Template{
//			SizeRules:     imagegen.SizeRules{Step: 16, MinEdge: 512, MaxEdge: 2048, MaxPixels: 2048 * 2048, MaxAspect: 4},
//			MaxReferences: 8,
//		},
//	})
//
// A model that takes a ratio or a tier instead of pixels needs an Input of its own. List in Sizes what it makes, so
// that each request gets the size that it asks for:
//
//	Input: map[string]any{"prompt": "{{prompt}}", "aspect_ratio": "{{ratio}}", "resolution": "{{tier}}"},
//	Sizes: []imagegen.Size{{Width: 1024, Height: 1024}, {Width: 2048, Height: 2048}, {Width: 1344, Height: 768}},
//
// # Placeholders
//
//	{{prompt}}          the prompt; required
//	{{n}}               images that one request makes, up to MaxPerCall
//	{{width}}           and {{height}}: the size to make, as numbers
//	{{size}}            the same as text, 1024x768
//	{{ratio}}           the nearest ratio to that size, 4:3
//	{{tier}}            its tier, 1K, or what TierNames says
//	{{quality}}         the effort: auto, low, medium or high
//	{{seed}}            the seed that is asked for
//	{{background}}      opaque or transparent, if one of them is asked for
//	{{format}}          the format that is asked for, as FormatNames calls it
//	{{mask}}            the mask, as a data: URL: what is transparent is to be made anew
//	{{white_mask}}      the same in black and white: what is white is to be made anew
//	{{reference}}       the first reference image, as a data: URL
//	{{references}}      the list of all of them
//	{{each_reference}}  one of them; the innermost element of a list that contains it is repeated for each
//
// A value that is a placeholder and nothing else becomes a number or a list where the table says so; within a longer
// text a placeholder becomes text. Those from {{seed}} on must be whole values. Their field is left out if the
// request has nothing for it. A prompt may contain the name of a placeholder.
//
// Requests can use the options that Input has a place for: a seed, a transparent background,
// the formats in FormatNames, and a mask.
//
// # The upstream
//
// From fal.ai/docs: POST https://queue.fal.run/MODEL answers with status_url, response_url and cancel_url,
// which must be used as they are. The status is IN_QUEUE or IN_PROGRESS, then COMPLETED, also for a
// failure: then the response is the error. The queue itself repeats a request that failed for lack of a
// runner. Requests that end with 5xx are not billed. A response is kept for an hour, but for 6 minutes if
// it is larger than 10 KB. With sync_mode it would contain the images and be larger, so do not set it in
// Input. An error of the model has a list detail with types, such as content_policy_violation; one of the
// platform has error_type. has_nsfw_concepts marks images that the safety checker has blackened.
package fal
