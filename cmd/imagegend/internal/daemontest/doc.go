// Package daemontest builds the daemon and runs it as a process of its own, for tests that see only what a user and an
// operator see.
//
//	func TestMain(m *testing.M) { os.Exit(daemontest.Main(m)) }
//
//	func TestFox(t *testing.T) {
//		d := daemontest.Start(t, daemontest.Options{})
//		_, key := d.NewUser(100)
//		answer := d.Call(daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox"}))
//		...
//	}
//
// It also reads what a daemon answers, and checks what must hold whatever was done to it: the credits that are gone
// paid for images that are there (Settled), the audit finds nothing (Clean), and no file is left behind
// (NoLeftovers).
//
// Methods that can fail the test must be called by the test's own goroutine; those that return an error may be called
// by any.
package daemontest
