// Package gemini is a provider over the image models of the Gemini API.
//
//	p, err := gemini.New(gemini.Config{APIKey: key})
//	...
//	imagegen.Model{ID: "gemini-3-pro-image", Provider: p, Credits: prices}
//
// For each image there is a call of generateContent. The calls of one request run at once, and
// a call that fails does not cost the images of the others. References stream from disk into
// the request, and images are decoded while the answer arrives.
//
// # The upstream
//
// From the Gemini API's documentation of image generation, errors and billing (ai.google.dev): the models of
// generation 3 take an aspect ratio and an image size of 1K, 2K or 4K and make the sizes of [Gemini3]; they take up
// to 14 references within the request. The ratios 2:1, 1:2, 3:1, 1:3 and 9:21 do not exist, and there is no quality
// or effort. If moderation refuses a request, the answer is a success without an image, with a
// promptFeedback.blockReason or a finishReason such as IMAGE_SAFETY. A request that fails with the status 500 or 503,
// and an error of the API itself in the body, is not billed, so it counts as imagegen.ClassUnavailable. The time to
// wait after a 429 is in the body. There is no idempotency key and no job to resume.
//
// Models such as gemini-3.1-flash-lite-image make the lowest tier only:
//
//	gemini.Config{APIKey: key, Model: "gemini-3.1-flash-lite-image", Tiers: []imagegen.Tier{imagegen.Tier1K}}
package gemini
