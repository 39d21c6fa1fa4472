// Package sdktest holds the stand-in that the tests of package openai run against to account: the
// official client of the API gets from it what it expects. It is a module of its own, so that
// nobody else downloads the client.
package sdktest
