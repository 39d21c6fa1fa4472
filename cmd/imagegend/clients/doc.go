// Package clients tests the daemon with clients that others have written: OpenAI's for Go and, where Node is
// installed with the packages that node/package.json names, for Node, and in Chromium and Firefox; clients of the Model
// Context Protocol; and clients that are generated from the OpenAPI document. It is a module of its own, outside of the
// workspace (GOWORK=off go test ./...), so that nobody else downloads them.
package clients
