// Package provider holds the fake provider and what helps to write a real one.
//
// [Fake] draws a picture of its own for each prompt and fails in every way that a real upstream
// fails, on demand. A provider of one's own implements imagegen.Provider, and [Prober] if it can. It
// joins the suite of package providertest.
package provider
