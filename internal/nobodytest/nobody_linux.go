package nobodytest

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Become takes from the goroutine of a test, until its end, what root may do with everybody's files.
// Whoever is not root stays who they are.
func Become(t *testing.T) {
	t.Helper()
	const nobody = 65534
	runtime.LockOSThread()
	if _, err := unix.SetfsuidRetUid(nobody); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		unix.Setfsuid(os.Geteuid())
		runtime.UnlockOSThread()
	})
}
