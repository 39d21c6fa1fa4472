// Package sdktest checks the stand-in against which the tests of package openai run: OpenAI's official client gets
// from it the answers that it expects. The package is a module of its own, so that nobody else downloads the client.
package sdktest
