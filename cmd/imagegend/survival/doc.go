// Package survival holds tests that put the built daemon through what a machine can do to it, and then look from
// outside at what is left: kill -9 under load, a full disk, a disk that fails under a commit, signals, uploads that
// are far larger than memory, callers that race for their last credits.
package survival
