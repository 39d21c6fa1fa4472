package privdroptest

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Become gives up the rights of root over other users' files on the calling goroutine's thread, until the test ends:
// it sets the thread's user for file access to nobody (setfsuid(2)). Other goroutines keep the rights, so the test
// must open files on the calling one. Without root it changes nothing.
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
