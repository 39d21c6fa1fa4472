// Package provider holds the fake provider and what helps to write a real one.
//
// [Fake] draws a picture of its own for each prompt and fails in every way that a real upstream
// fails, on demand. A provider of one's own implements imagegen.Provider, and [Prober] if it can. It
// joins the suite of package providertest.
//
// The packages below have a Config each. The tags yaml and zero of its fields are for a program that fills it
// from a file: the key of a field where that is not its name, and what a 0 that is written there becomes.
package provider
