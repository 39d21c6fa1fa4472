package adminserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/data"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/storage"
)

func TestOnlyTheOwnerReachesTheSocket(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	l, err := adminserver.Listen(dir)
	is.NoErr(err)
	info, err := os.Stat(filepath.Join(dir, "admin.sock"))
	is.NoErr(err)
	is.Equal(info.Mode(), os.ModeSocket|0o600)
	is.NoErr(l.Close())
	_, err = os.Lstat(filepath.Join(dir, "admin.sock"))
	is.True(errors.Is(err, os.ErrNotExist))
}

func TestSocketThatAnswersIsNotTakenOver(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	l, err := adminserver.Listen(dir)
	is.NoErr(err)
	defer l.Close()
	_, err = adminserver.Listen(dir)
	refused(t, err, "another process answers")
}

func TestStaleSocketIsReplaced(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, "admin.sock"))
	is.NoErr(err)
	l.(*net.UnixListener).SetUnlinkOnClose(false) // as a process that was killed leaves it
	is.NoErr(l.Close())
	again, err := adminserver.Listen(dir)
	is.NoErr(err)
	is.NoErr(again.Close())
}

// A path may be too long for a socket; the directory then holds a link to it.
func TestLongPath(t *testing.T) {
	is := is.New(t)
	runtime := t.TempDir()
	t.Setenv("RUNTIME_DIRECTORY", runtime)
	dir := filepath.Join(t.TempDir(), strings.Repeat("long/", 30))
	is.NoErr(os.MkdirAll(dir, 0o700))
	server := serve(t, dir, open(t, dir))
	s, err := adminserver.Open(t.Context(), in(dir))
	is.NoErr(err)
	_, err = admin.ListUsers.Do(t.Context(), s, admin.None{})
	is.NoErr(err)
	is.NoErr(s.Close())
	is.NoErr(server.Close())
	left, err := os.ReadDir(runtime)
	is.NoErr(err)
	is.Equal(len(left), 0)
	_, err = os.Lstat(filepath.Join(dir, "admin.sock"))
	is.True(errors.Is(err, os.ErrNotExist))
}

// Server and commands meet, whether they name a directory by its long path or by a short link to it.
func TestLongPathBehindAShortLink(t *testing.T) {
	is := is.New(t)
	t.Setenv("RUNTIME_DIRECTORY", t.TempDir())
	long, link := filepath.Join(t.TempDir(), strings.Repeat("long/", 30)), filepath.Join(t.TempDir(), "data")
	is.NoErr(os.MkdirAll(long, 0o700))
	is.NoErr(os.Symlink(long, link))
	local := open(t, long)
	for server, command := range map[string]string{long: link, link: long} {
		h := serve(t, server, local)
		s, err := adminserver.Open(t.Context(), in(command))
		is.NoErr(err)
		_, err = admin.ListUsers.Do(t.Context(), s, admin.None{})
		is.NoErr(err)
		is.NoErr(s.Close())
		is.NoErr(h.Close())
	}
}

func TestOpenMakesNoDirectory(t *testing.T) {
	is := is.New(t)
	dir := filepath.Join(t.TempDir(), "wrong")
	_, err := adminserver.Open(t.Context(), in(dir))
	refused(t, err, dir, "imagegend serve", "--data-dir")
	_, err = os.Stat(dir)
	is.True(errors.Is(err, os.ErrNotExist))
	_, err = adminserver.Open(t.Context(), in(t.TempDir())) // there, but no data directory
	is.True(err != nil)
}

// A caller can give up waiting for a server that starts.
func TestOpenIsGivenUp(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	open(t, dir) // locked, and nobody answers
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := adminserver.Open(ctx, in(dir))
	is.True(errors.Is(err, context.Canceled))
}

// failing is a store whose backup breaks off, and whose disk fails under a grant.
type failing struct{ data.Store }

func (failing) Grant(context.Context, imagegen.Grant) (imagegen.Granted, error) {
	return imagegen.Granted{}, fmt.Errorf("%w: input/output error", storage.ErrOutcomeUnknown)
}

func (failing) Backup(_ context.Context, w io.Writer) error {
	w.Write(make([]byte, 1<<20))
	return errors.New("an image could\nnot be read")
}

func TestBackupThatBreaksOff(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	local := open(t, dir)
	local.DB = failing{local.DB}
	serve(t, dir, local)
	s, err := adminserver.Open(t.Context(), in(dir))
	is.NoErr(err)
	defer s.Close()
	refused(t, admin.Backup.Do(t.Context(), s, io.Discard), "an image could", "not be read")
}

// Of the server's errors only this one has a status of its own.
func TestDiskThatFailsUnderACommit(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	local := open(t, dir)
	_, err := admin.CreateUser.Do(t.Context(), local, admin.NewUser{Name: "alice"})
	is.NoErr(err)
	local.DB = failing{local.DB}
	serve(t, dir, local)
	s, err := adminserver.Open(t.Context(), in(dir))
	is.NoErr(err)
	defer s.Close()
	_, err = admin.GrantCredits.Do(t.Context(), s, admin.Grant{User: "alice", Credits: 5})
	is.True(errors.Is(err, adminserver.ErrDisk))
	is.True(!errors.Is(admin.Backup.Do(t.Context(), s, io.Discard), adminserver.ErrDisk))
}

func TestServerOfAnotherVersion(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	l, err := adminserver.Listen(dir)
	is.NoErr(err)
	server := httptest.NewUnstartedServer(nil) // knows no call at all
	server.Listener.Close()
	server.Listener = l
	server.Start()
	defer server.Close()
	s, err := adminserver.Open(t.Context(), in(dir))
	is.NoErr(err)
	defer s.Close()
	_, err = admin.ListUsers.Do(t.Context(), s, admin.None{})
	refused(t, err, "another version")
}

// in is data that lies in a directory.
func in(dir string) config.Data { return config.Data{DataDir: dir} }
