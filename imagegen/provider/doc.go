// Package provider has the fake provider, and help for writing a real one.
//
// [Fake] draws a picture for each prompt. On demand it fails in every way in which a real
// upstream fails. A provider of your own implements [imagegen.Provider] and, if possible,
// [Prober]; test it with package providertest.
//
// Each package below has a Config. The tags yaml and zero of its fields are for a program
// that fills it from a file: the key of a field if that is not its name, and what a 0 in
// the file becomes.
package provider
