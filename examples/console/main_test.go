package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// start runs the program; link is what it asks to open, stop ends it.
func start(t *testing.T, dir string) (link string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	out, printed := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, dir, listener, printed)
		printed.CloseWithError(err)
		ended <- err
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(strings.TrimSpace(line), "open "), func() error { cancel(); return <-ended }
}

// The person who opens the link is the operator; the next start prints no link.
func TestFirstStart(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	link, stop := start(t, dir)
	is.True(strings.Contains(link, "/console/setup/"))
	jar, err := cookiejar.New(nil)
	is.NoErr(err)
	browser := &http.Client{Jar: jar}
	defer browser.CloseIdleConnections()
	page, err := browser.PostForm(link, url.Values{"name": {"olivia"}, "password": {"correct horse battery"},
		"again": {"correct horse battery"}})
	is.NoErr(err)
	page.Body.Close()
	is.Equal(page.Request.URL.Path, "/console/playground")
	for path, want := range map[string]int{"/console/system": http.StatusOK,
		"/api/v1/credits": http.StatusUnauthorized} {
		page, err := browser.Get(strings.Split(link, "/console/")[0] + path)
		is.NoErr(err)
		page.Body.Close()
		is.Equal(page.StatusCode, want)
	}
	is.NoErr(stop())

	again, stop := start(t, dir)
	is.True(strings.HasSuffix(again, "/console/"))
	is.NoErr(stop())
}
