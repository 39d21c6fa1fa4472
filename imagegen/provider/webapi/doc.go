// Package webapi is a provider over any web API that makes images while one waits for its answer, which is
// JSON: what is sent, and what the answer means, stands in the configuration.
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
//	{{each_reference}}   within an element of a list: the element stands there once for each reference image
//
// # Requests
//
// A call is one request, sent once: nobody knows what an API makes of a second one. For more images than
// MaxPerCall several calls are made at once. References stream from disk, as data: URLs, as base64, or as files of a
// form. They have no address of their own, and get none, since that would show to others what is their owner's. An API
// that takes nothing but addresses mostly has a place to store files: with Upload they are sent there first.
//
// # Answers
//
// Images are decoded while the answer arrives. A value at one of the paths in Images is an image in base64, a data: URL
// or the address of one, which is fetched at once, without the key; of an image that comes in both ways the address is
// not fetched.
//
// An answer other than 2xx means what Statuses says of its status, else what it means everywhere: 429 is rate-limited;
// 401, 402, 403, 404, 405 and 410 wait for an operator; 400, 409, 413, 415 and 422 are the request's fault; whatever
// else may have been done. Where the text of an error, or its code, has one of the words in Refusals, moderation has
// spoken, whatever the status.
package webapi
