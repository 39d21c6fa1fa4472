// Package bfl is a provider over the API of Black Forest Labs, who make the FLUX models.
//
//	p, err := bfl.New(bfl.Config{APIKey: key})
//	...
//	imagegen.Model{ID: "flux-2-pro", Provider: p, Credits: prices}
//
// Each image is a task of its own: submitted, asked about, fetched. The address to ask at is saved
// before the first question, so that a restart takes the tasks up again and pays once.
//
// # The upstream
//
// From docs.bfl.ai and help.bfl.ai: POST /v1/MODEL answers with id and polling_url, which must be
// used as it is, since it leads to the region that does the work. The status there is Pending (or
// another name for work in progress), then Ready, Error, Request Moderated, Content Moderated or
// Task not found. Result addresses hold for ten minutes; a task resumed later than that is lost.
// An account has 24 active tasks at most; more are answered with 429. There is nothing to cancel a
// task with.
//
// The kinds of models differ in their fields, and refuse or drop those of others. FLUX.3 takes images,
// aspect_ratio and a class of resolution. Kontext and FLUX1.1 ultra take an aspect_ratio, of which they make
// what they like; a ratio that they miss by more than 2 % is not offered. The rest take width and height.
// An answer about a task that moderation has ended may come with a status of 503.
//
// FLUX.2 takes edges in multiples of 16 from 256, up to 4 megapixels (2048×2048) in any shape:
// tiers 1K and 2K. Reference images go into input_image to input_image_8, in base64; the API takes
// up to 20 MB and 20 megapixels of each. A task makes one image, and there is no effort to choose.
package bfl
