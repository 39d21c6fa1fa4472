// Package conformance holds one test for every line of docs/spec.md and docs/contract.md.
//
// The tests see only what a caller and an operator see. Each runs against a service in this process and against the
// built daemon; those of the command line, and of what a restart leaves, run against the daemon alone. What every
// imagegen.Service does is in the suite of imagegentest, which runs against the daemon too. Where the tests of
// another package show that a line holds, the check here only names them: what is refused while a request is read,
// how sizes are chosen, which calls join. A test names the lines that it checks by a piece of their text, and
// TestEveryLineIsCovered fails when a line has no test, or a test names a line that is gone.
package conformance
