// Package schedule decides whose work begins next: how many attempts are under way at once, in all and of
// each model, and in which order callers and the queue are served. It knows no image and no credit.
package schedule
