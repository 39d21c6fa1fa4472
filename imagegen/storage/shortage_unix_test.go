//go:build unix

package storage_test

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
)

// An audit that has no descriptors left could not be carried out: it accuses no file.
func TestAuditWithoutDescriptors(t *testing.T) {
	w := work(t, openDir(t, usedDir(t), nil))
	finish, err := w.BeginAudit(t.Context())
	w.is.NoErr(err)
	var limit syscall.Rlimit
	w.is.NoErr(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	none := limit
	none.Cur = 1
	w.is.NoErr(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none))
	report, err := finish()
	w.is.NoErr(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	w.is.True(errors.Is(err, syscall.EMFILE))
	w.is.True(strings.Contains(err.Error(), "could not be checked"))
	w.is.True(report.Clean())
	w.clean()
}

// Nor does one whose caller gives up.
func TestAuditThatIsGivenUp(t *testing.T) {
	w := work(t, openDir(t, usedDir(t), nil))
	ctx, cancel := context.WithCancel(t.Context())
	finish, err := w.BeginAudit(ctx)
	w.is.NoErr(err)
	cancel()
	report, err := finish()
	w.is.True(errors.Is(err, context.Canceled))
	w.is.True(report.Clean())
}
