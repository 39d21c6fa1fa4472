package main_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"
)

func TestDoctorOfTheDisk(t *testing.T) {
	for size, want := range map[string]finding{
		"48m": {State: "fail", Detail: "MiB free of 48 MiB; below 64 MiB no new work is taken", Remedy: "make room"},
		"99m": {State: "warn", Detail: "MiB free of 99 MiB", Remedy: "--retain"},
	} {
		dir := t.TempDir()
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+size); err != nil {
			t.Skipf("no small disk can be made: %v", err)
		}
		t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
		findings, _, _ := doctor(t, t.TempDir(), nil, "--models", "fake", "--data-dir", dir)
		findings["disk"].finds(t, want.State, want.Detail, want.Remedy)
		is.New(t).Equal(findings["directory"].State, "ok")
	}
}

// A service that was once started as root has left what its own user cannot use.
func TestDoctorOfFilesOfAnotherUser(t *testing.T) {
	is, p := is.New(t), newPatient(t)
	p.born(0)
	made := filepath.Join(p.data, "images", "0a3")
	is.NoErr(os.Mkdir(made, 0o700))
	findings, _, _ := doctor(t, p.dir, nil, "--models", "fake", "--data-dir", "data", "--addr", "127.0.0.1:0")
	is.Equal(findings["directory"].State, "ok")
	if err := os.Chown(made, 65534, 65534); err != nil {
		t.Skipf("no file can be given away: %v", err)
	}
	findings, _, _ = doctor(t, p.dir, nil, "--models", "fake", "--data-dir", "data", "--addr", "127.0.0.1:0")
	findings["directory"].finds(t, "warn", "data/images/0a3 belongs to another user", "chown -R --reference=data data")
}

// Doctor warns of a service that runs as root in the directory of another user.
func TestServeInTheDirectoryOfAnotherUser(t *testing.T) {
	p := newPatient(t)
	p.born(0)
	if err := os.Chown(p.data, 65534, 65534); err != nil {
		t.Skipf("no directory can be given away: %v", err)
	}
	d := p.serve()
	says(t, d.Output(), "the data directory belongs to another user")
}
