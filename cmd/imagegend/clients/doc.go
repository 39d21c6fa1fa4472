// Package clients tests the daemon with clients that others have written: OpenAI's for Go and, where Node is
// installed with the packages that node/package.json names, for Node; clients of the Model Context Protocol; and
// clients that are generated from the OpenAPI document. It is a module of its own, so that nobody else downloads
// them.
package clients
