// Package clients holds the service to what clients expect that others have written: OpenAI's for Go, and for
// Node where that is installed with the packages that node/package.json names. It is a module of its own, so
// that nobody else downloads them.
package clients
