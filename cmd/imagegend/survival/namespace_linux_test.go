package survival_test

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const ofItsOwn = "IMAGEGEND_TEST_MOUNTS_OF_ITS_OWN"

// withSmallDisk runs f with a directory on an empty disk of so many bytes. It does so in another
// process with mounts of its own, so that nothing stays mounted whatever happens, and so that it
// needs no privileges where the system lets users have such.
func withSmallDisk(t *testing.T, size string, f func(t *testing.T, dir string)) {
	if os.Getenv(ofItsOwn) == "" {
		inMountsOfItsOwn(t)
		return
	}
	dir := t.TempDir()
	err := errors.Join(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), unix.Mount("tmpfs", dir, "tmpfs", 0,
		"size="+size))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	f(t, dir)
}

// inMountsOfItsOwn runs the test in a process with mounts of its own.
func inMountsOfItsOwn(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), ofItsOwn+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if cmd.Process == nil {
		t.Skipf("this system gives no process mounts of its own, and so no small disk: %v", err)
	}
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
