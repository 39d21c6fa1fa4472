// Package clients tests the daemon with clients that others have written: OpenAI's for Go and, where Node is
// installed with the packages that node/package.json names, for Node, and in Chromium and Firefox; clients of the Model
// Context Protocol; clients that are generated from the OpenAPI document; and receivers of webhooks, by the reference
// libraries of Standard Webhooks and as docs/events.md has them. It is a module of its own, outside of the
// workspace (GOWORK=off go test ./...), so that nobody else downloads them.
package clients
