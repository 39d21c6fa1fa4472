// Package fal is a provider over fal, which hosts models of many makers.
//
// Most models take the same few fields, which are the default; only what differs needs to be said:
//
//	p, err := fal.New(fal.Config{
//		APIKey:        key,
//		Model:         "fal-ai/flux-2-pro",
//		EditModel:     "fal-ai/flux-2-pro/edit",
//		SizeRules:     imagegen.SizeRules{Step: 16, MinEdge: 512, MaxEdge: 2048, MaxPixels: 2048 * 2048, MaxAspect: 4},
//		MaxReferences: 8,
//	})
//
// A model that takes names instead of pixels needs an Input of its own, and to be told what it makes
// of them, so that no request is bent:
//
//	Input: map[string]any{"prompt": "{{prompt}}", "aspect_ratio": "{{ratio}}", "resolution": "{{tier}}"},
//	Sizes: []imagegen.Size{{Width: 1024, Height: 1024}, {Width: 2048, Height: 2048}, {Width: 1344, Height: 768}},
//
// # Placeholders
//
//	{{prompt}}      the prompt; required
//	{{n}}           images that one request makes, up to MaxPerCall
//	{{width}}       and {{height}}: the size to make, as numbers
//	{{size}}        the same as text, 1024x768
//	{{ratio}}       the nearest ratio to that size, 4:3
//	{{tier}}        its tier, 1K, or what TierNames says
//	{{quality}}     the effort: auto, low, medium or high
//	{{seed}}        the seed that is asked for
//	{{background}}  opaque or transparent, if that is asked for
//	{{format}}      the format that is asked for, as FormatNames calls it
//	{{mask}}        the mask, as a data: URL: what is transparent is to be made anew
//	{{white_mask}}  the same in black and white: what is white is to be made anew
//	{{reference}}   the first reference image, as a data: URL
//	{{references}}  the list of all of them
//
// A value that is a placeholder and nothing else gets its type; one within a longer text becomes
// text. Without references, fields of theirs are left out. What the prompt says is never taken for a
// placeholder.
//
// # The upstream
//
// From fal.ai/docs: POST https://queue.fal.run/MODEL answers with status_url, response_url and
// cancel_url, which must be used as they are. The status is IN_QUEUE or IN_PROGRESS, then COMPLETED,
// for a failure too: the response then is the error. The queue repeats by itself what failed for want
// of a runner. Requests that end with 5xx are not billed. A response is kept for an hour, a larger one
// than 10 KB for 6 minutes; sync_mode would make it so, and is not for use here. An error of the
// model has a list detail with types, such as content_policy_violation; one of the platform has
// error_type. has_nsfw_concepts marks images that the safety checker blackened.
package fal
