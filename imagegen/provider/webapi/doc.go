// Package webapi is a provider over any web API that makes images within one request and
// answers with JSON. The configuration says what is sent and what the answer means.
//
//	p, err := webapi.New(webapi.Config{
//		APIKey:  key,
//		BaseURL: "https://api.example.com/v1",
//		Path:    "/images/generations",
//		Input: map[string]any{
//			"model":  "fox-1",
//			"prompt": "{{prompt}}",
//			"width":  "{{width}}",
//			"height": "{{height}}",
//			"image":  "{{references}}",
//		},
//		MaxReferences: 4,
//		SizeRules:     imagegen.SizeRules{Step: 16, MinEdge: 256, MaxEdge: 2048, MaxPixels: 2048 * 2048, MaxAspect: 4},
//		Images:        []string{"data[].b64_json"},
//		Errors:        []string{"error.message"},
//	})
//
// The placeholders are those of package replicate, and
//
//	{{each_reference}}   within an element of a list: the element is repeated for each reference image
//
// # Requests
//
// A call is one request, sent once, since nobody knows what an API makes of a repetition.
// For more images than MaxPerCall, several calls run at once. References stream from
// disk, as data: URLs, as base64, or as files of a form. They have no address of their
// own, since others could then see them. An API that takes only addresses usually has a
// place to store files: with Upload, references are sent there first.
//
// # Answers
//
// Images are decoded while the answer arrives. A value at one of the paths in Images is
// an image in base64, a data: URL, or the address of an image, which is fetched at once
// and without the key. If an image comes in both ways, the address is not fetched.
//
// A status other than 2xx means what Statuses says. Otherwise 429 is a rate limit; 401,
// 402, 403, 404, 405 and 410 need an operator; 400, 409, 413, 415 and 422 are the
// request's fault; after any other status the work may have been done. If the text or
// code of an error contains one of the words in Refusals, it is a refusal by moderation,
// whatever the status.
package webapi
