// Package provider contains the fake provider and the few things that real ones share: [Prober] and [Steps].
// The real providers are the packages below it, one for each kind of upstream.
//
// [Fake] draws a picture for each prompt. On demand it fails in the ways in which a real upstream can fail. A
// provider of your own implements [imagegen.Provider] and, if possible, [Prober]; test it with package providertest.
package provider
