// Package conformance holds one test for every line of docs/spec.md and docs/contract.md.
//
// The tests see only what a caller and an operator see. Each runs against a service in this process
// and against the built daemon; those of the command line, and of what a restart leaves, against
// the daemon alone. What is refused while a request is read, and in which words, is tested in the
// package that reads it, once and not on both roads. A test names the lines that it checks by a piece
// of their text, and TestEveryLineIsCovered fails when a line has no test, or a test names a line
// that is gone.
package conformance
