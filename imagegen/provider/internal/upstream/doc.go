// Package upstream is what the adapters for upstreams over HTTP have in common: a [Client] that
// guards the key and the network, bodies that stream from disk, answers that are read while they
// arrive, and one way to say what went wrong.
//
// Nothing here holds a reference image or a made image in memory, retries, or reads the
// environment.
package upstream
