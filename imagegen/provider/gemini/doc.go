// Package gemini is a provider over the Gemini API's image models.
//
//	p, err := gemini.New(gemini.Config{APIKey: key})
//	...
//	imagegen.Model{ID: "gemini-3-pro-image", Provider: p, Credits: prices}
//
// Each image is a call of generateContent of its own; calls for one request run at once, and what
// ends one of them does not cost the others' images. References stream from disk into the request,
// images are decoded while the answer arrives.
//
// # The upstream
//
// From the Gemini API's documentation of image generation, errors and billing: the models of
// generation 3 take an aspect ratio and an image size of 1K, 2K or 4K and make the sizes of
// [Gemini3]; they take up to 14 references within the request. The ratios 2:1, 1:2, 3:1, 1:3 and
// 9:21 do not exist, and there is no quality or effort. What moderation stops is no HTTP error: an
// answer without an image, with a promptFeedback.blockReason or a finishReason such as
// IMAGE_SAFETY. A request that fails with a status of 500 or 503 in the API's own words is not
// billed, and is tried again; the time to wait after 429 stands in the body. There is no
// idempotency key and no job to resume.
//
// Such as gemini-3.1-flash-lite-image make the lowest tier only:
//
//	gemini.Config{APIKey: key, Model: "gemini-3.1-flash-lite-image", Tiers: []imagegen.Tier{imagegen.Tier1K}}
package gemini
