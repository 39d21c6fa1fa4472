package disk_test

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const diskSize = 64 << 20

// format makes a file an ext4. Its tables are written at once, so that nothing is later that no
// proof is about.
func format(file string) error {
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, diskSize)); err != nil {
		return err
	}
	return run("mkfs.ext4", "-q", "-F", "-b", "4096", "-J", "size=4", "-m", "0",
		"-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", file)
}

// attach mounts the ext4 in a file through a loop device, which goes when it is unmounted.
func attach(file, dir string, direct bool, options string) error {
	args := []string{"--find", "--show", file}
	if direct {
		args = append([]string{"--direct-io=on"}, args...)
	}
	device, err := output("losetup", args...)
	if err != nil {
		return err
	}
	return errors.Join(unix.Mount(device, dir, "ext4", unix.MS_NOATIME, options), run("losetup", "--detach", device))
}

func detach(dir string) error { return unix.Unmount(dir, 0) }
