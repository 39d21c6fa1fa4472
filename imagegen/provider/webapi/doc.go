// Package webapi is a provider over any web API that makes images within one request and answers with JSON. Its
// configuration says what to send and what the answer means.
//
//	p, err := webapi.New(webapi.Config{
//		APIKey:  key,
//		BaseURL: "https://api.example.com/v1",
//		Path:    "/images/generations",
//		Template: provider.Template{
//			Input: map[string]any{
//				"model":  "fox-1",
//				"prompt": "{{prompt}}",
//				"width":  "{{width}}",
//				"height": "{{height}}",
//				"image":  "{{references}}",
//			},
//			MaxReferences: 4,
//			SizeRules:     imagegen.SizeRules{Step: 16, MinEdge: 256, MaxEdge: 2048, MaxPixels: 2048 * 2048, MaxAspect: 4},
//		},
//		Images: []string{"data[].b64_json"},
//		Errors: []string{"error.message"},
//	})
//
// The placeholders are those of package replicate.
//
// # Requests
//
// A call is one request, which is never repeated, since an API may make images for each repetition. For more images
// than MaxPerCall, several calls run at once. References stream from disk, as data: URLs, as base64, or as files of a
// form. This service gives them no address on the web, where others could see them. An API that takes only addresses
// usually has a place to store files: with Upload, references are sent there first.
//
// # Answers
//
// Images are decoded while the answer arrives. A value at one of the paths in Images is an image in base64, a data:
// URL, or the address of an image. Addresses are fetched when the answer has been read, without the key. If one
// element of a list has an image in both ways, its address is not fetched; of nested lists, the innermost counts that
// both ways stand in.
//
// Numbers at the paths in Usage say what the work has used. One that is missing or makes no sense costs no image.
//
// A status other than 2xx means what Statuses says. A status that is not in it means: imagegen.ClassRateLimited for
// 429; ClassBlocked, since an operator must act, for 401, 402, 403, 404, 405 and 410; ClassInvalid for 400, 409,
// 413, 415 and 422; and ClassUnknown for any other, since the work may have been done. If the text or code of an
// error contains one of the words in Refusals, it is of ClassRefused, whatever the status.
package webapi
