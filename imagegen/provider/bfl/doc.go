// Package bfl is a provider over the API of Black Forest Labs, the makers of the FLUX
// models.
//
//	p, err := bfl.New(bfl.Config{APIKey: key})
//	...
//	imagegen.Model{ID: "flux-2-pro", Provider: p, Credits: prices}
//
// Each image is a task of its own: it is submitted, polled and fetched. The address to poll is saved before the first
// poll, so that a task is continued after a restart, and paid for once.
//
// # The upstream
//
// From docs.bfl.ai and help.bfl.ai: POST /v1/MODEL answers with id and polling_url, which must be used unchanged,
// since it leads to the region that does the work. The status there is Pending (or another name for work in
// progress), then Ready, Error, Request Moderated, Content Moderated or Task not found. The address of an image is
// valid for ten minutes: if a task is continued later than that, its image is lost. An account can have 24 active
// tasks; beyond that the answer is 429. A task cannot be cancelled. The first answer names what the task costs, in
// credits of one US cent each.
//
// The models take different fields, and refuse or ignore those of other models. FLUX.3 takes images, aspect_ratio and
// a class of resolution. Kontext and FLUX1.1 ultra take an aspect_ratio and choose the size; a ratio that they miss
// by more than 2 % is not offered. The others take width and height. The answer about a task that moderation has
// ended may have the status 503.
//
// FLUX.2 takes edges in multiples of 16 from 256 pixels, up to 4 megapixels (2048×2048) in any shape: tiers 1K and
// 2K. Reference images go into input_image to input_image_8, in base64, up to 20 MB and 20 megapixels each, which the
// upstream checks. A task makes one image, and there is no quality to choose.
package bfl
