// Package schedule decides whose work begins next: how many attempts run at once, in all
// and for each model, and in which order callers and queued work are served. It knows
// nothing of images or credits.
package schedule
