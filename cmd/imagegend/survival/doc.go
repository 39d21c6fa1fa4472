// Package survival holds tests that treat the built daemon badly, and look at what is left from the
// outside: kill -9 under load, a full disk, a disk that fails under a commit, signals, uploads that
// are far larger than memory, callers that race for their last credits.
package survival
