// Package provider contains the fake provider and the few things that real ones share: [Prober] and [Steps].
// The real providers are the packages below it, one for each kind of upstream.
//
// [Fake] draws a picture for each prompt. On demand it fails in the ways in which a real upstream can fail. A
// provider of your own implements [imagegen.Provider] and, if possible, [Prober]; test it with package providertest.
//
// Each provider package has a Config. The struct tags yaml and zero on its fields are for a
// program that fills the Config from a file: yaml gives the key of a field whose key is not
// its name, zero gives the value that a 0 in the file stands for.
package provider
