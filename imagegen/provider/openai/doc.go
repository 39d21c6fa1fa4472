// Package openai is a provider over the OpenAI images API, and over any service that speaks the
// same protocol.
//
//	p, err := openai.New(openai.Config{APIKey: key})
//	...
//	imagegen.Model{ID: "gpt-image-2", Provider: p, Credits: prices}
//
// Without references it sends JSON to /images/generations, with references a form to /images/edits, whose files
// stream from disk. Images are decoded while the answer arrives. Those that come as URLs are fetched when the answer
// has been read, without the key.
//
// # The upstream
//
// From OpenAI's API reference for images and its Go client: a prompt has up to 32,000 characters, n is 1 to 10, an
// edit takes up to 16 PNG, JPEG or WebP files under 50 MB in the field image[]. The models named gpt-image always
// answer with base64 and refuse response_format, which is therefore never sent. gpt-image-2, 2.5 and 2.6 take every
// size that [GPTImage2] allows, older ones 1024×1024, 1536×1024 and 1024×1536. Since 2.5 there are the qualities
// xhigh and max, since 2.6 there is a complexity. An error is an object with message, type, param and code; a refusal
// by moderation has the code moderation_blocked. There is no idempotency key and no job to resume, so a request whose
// answer was lost is not repeated. Of the status 503, "overloaded", OpenAI says that the request was not processed. A
// 503 of another service does not promise that.
//
// # Other services
//
// A service that the operator runs, such as LocalAI or stable-diffusion.cpp, needs BaseURL, Private and usually Sizes
// and MaxReferences. Azure needs KeyHeader "api-key" and the deployment as Model:
//
//	openai.Config{
//		BaseURL:   "https://NAME.openai.azure.com/openai/v1",
//		KeyHeader: "api-key",
//		APIKey:    key,
//		Model:     "my-deployment",
//	}
package openai
