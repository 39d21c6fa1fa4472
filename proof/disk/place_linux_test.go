package disk_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// namePrefix is how what this package mounts is known again after it was killed.
const namePrefix = "imagegen-proof-disk-"

// place is a directory in memory in which everything of a test lies: files, mounted disks, what is
// behind loop devices. It is cleared away however the test ends; if the test is killed, by the next.
type place struct {
	t   *testing.T
	dir string
}

// newPlace skips the test where the machine cannot do it; unproven says what is then not proven.
func newPlace(t *testing.T, unproven string, needs ...string) *place {
	t.Helper()
	missing := slices.DeleteFunc(needs, available)
	if os.Geteuid() != 0 {
		missing = append(missing, "root")
	}
	if len(missing) > 0 {
		t.Skipf("not proven here: %s; this machine lacks %s", unproven, strings.Join(missing, ", "))
	}
	p, err := makePlace(t)
	if errors.Is(err, unix.EPERM) {
		t.Skipf("not proven here: %s; this machine lacks the right to mount", unproven)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// available reports whether there is a device or a program.
func available(need string) bool {
	if filepath.IsAbs(need) {
		_, err := os.Stat(need)
		return err == nil
	}
	_, err := exec.LookPath(need)
	return err == nil
}

func makePlace(t *testing.T) (*place, error) {
	if err := clearLeftovers(); err != nil {
		return nil, err
	}
	outer, err := os.MkdirTemp("", namePrefix)
	if err != nil {
		return nil, err
	}
	lock, err := os.Create(filepath.Join(outer, "lock"))
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, err
	}
	p := &place{t, filepath.Join(outer, "ram")}
	goroutines := runtime.NumGoroutine()
	t.Cleanup(func() {
		if err := errors.Join(leaked(p.dir, goroutines), clearPlace(outer), lock.Close()); err != nil {
			t.Error(err)
		}
	})
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		return nil, err
	}
	return p, unix.Mount("tmpfs", p.dir, "tmpfs", 0, "size=2g,mode=0700")
}

func (p *place) path(name ...string) string {
	return filepath.Join(append([]string{p.dir}, name...)...)
}

// in is the place for a part of the test.
func (p *place) in(t *testing.T) *place { return &place{t, p.dir} }

// subdir makes a directory.
func (p *place) subdir(name string) string {
	p.t.Helper()
	p.must(os.Mkdir(p.path(name), 0o700))
	return p.path(name)
}

func (p *place) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// clearLeftovers clears the places of tests that were killed: nobody holds their locks.
func clearLeftovers() error {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), namePrefix+"*"))
	for _, outer := range left {
		lock, failed := os.OpenFile(filepath.Join(outer, "lock"), os.O_RDWR, 0)
		if failed != nil {
			continue // it is being made, or cleared
		}
		if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			err = errors.Join(err, clearPlace(outer))
		}
		err = errors.Join(err, lock.Close())
	}
	return err
}

// clearPlace unmounts what is mounted in a place, lets go of loop devices on files there, and
// removes it. It goes round twice: a mounted loop device is in use, and its file with it.
func clearPlace(outer string) error {
	for _, how := range []int{0, unix.MNT_DETACH | unix.MNT_FORCE} {
		mounts, err := mountsUnder(outer)
		if err != nil {
			return err
		}
		for _, m := range mounts {
			if m != filepath.Join(outer, "ram") { // where the files of the others lie
				_ = unix.Unmount(m, how)
			}
		}
		if err := releaseLoops(outer); err != nil {
			return err
		}
	}
	mounts, err := mountsUnder(outer)
	for _, m := range mounts {
		if failed := unix.Unmount(m, unix.MNT_DETACH); failed != nil {
			err = errors.Join(err, fmt.Errorf("unmounting %s: %w", m, failed))
		}
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(outer)
}

// mountsUnder lists the mount points below a directory, the last mounted first.
func mountsUnder(dir string) (points []string, err error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) > 4 && strings.HasPrefix(fields[4], dir+"/") {
			points = append(points, fields[4])
		}
	}
	slices.Reverse(points)
	return points, lines.Err()
}

// releaseLoops lets go of the loop devices whose file lies below a directory.
func releaseLoops(dir string) error {
	backing, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, path := range backing {
		file, gone := os.ReadFile(path)
		if gone == nil && strings.HasPrefix(string(file), dir+"/") {
			device := "/dev/" + strings.Split(path, "/")[3]
			err = errors.Join(err, run("losetup", "--detach", device))
		}
	}
	return err
}

// run runs a program to its end.
func run(name string, args ...string) error {
	_, err := output(name, args...)
	return err
}

func output(name string, args ...string) (string, error) {
	b, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, b)
	}
	return strings.TrimSpace(string(b)), nil
}
