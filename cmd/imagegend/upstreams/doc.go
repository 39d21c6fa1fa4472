// Package upstreams holds tests of the built daemon with stand-ins for the image services behind it: how much memory
// large images take, what a kill in the middle of an upstream's work costs, where keys are sent, and what operators
// learn about an upstream.
package upstreams
