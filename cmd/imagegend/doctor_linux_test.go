package main_test

import (
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
			t.Skipf("no small disk can be had: %v", err)
		}
		t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
		findings, _, _ := doctor(t, t.TempDir(), nil, "--models", "fake", "--data-dir", dir)
		findings["disk"].finds(t, want.State, want.Detail, want.Remedy)
		is.New(t).Equal(findings["directory"].State, "ok")
	}
}
