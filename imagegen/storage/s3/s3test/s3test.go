// Package s3test starts an object store for tests: versitygw over a directory, on a free port.
package s3test

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/storage/s3"
)

const (
	// AccessKey and SecretKey are the server's credentials.
	AccessKey = "test"
	SecretKey = "test-secret"
	// Bucket is there from the beginning.
	Bucket = "images"
)

// Server is an object store that runs.
type Server struct {
	URL     string // http://127.0.0.1:port
	address string
	program string
	dir     string
	process *exec.Cmd
}

// Start starts a server that ends with the test, and names its credentials in the environment. A machine without
// the program versitygw skips the test and says so: go install github.com/versity/versitygw/cmd/versitygw@v1.8.0.
func Start(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{program: find(), dir: tb.TempDir()}
	if s.program == "" {
		tb.Skip("NOT RUN: there is no versitygw; .ci/run s3 installs it")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s.address = l.Addr().String()
	s.URL = "http://" + s.address
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
	setenv(tb, map[string]string{"AWS_ACCESS_KEY_ID": AccessKey, "AWS_SECRET_ACCESS_KEY": SecretKey,
		"AWS_EC2_METADATA_DISABLED": "true"})
	s.Resume(tb)
	tb.Cleanup(s.Stop)
	if err := s.createBucket(); err != nil {
		tb.Fatal(err)
	}
	return s
}

var addresses atomic.Int64

// Address is the address of a place in the bucket that is nobody else's, as --images and package s3 take it.
func (s *Server) Address() string {
	return fmt.Sprintf("s3://%s/%d?endpoint=%s&region=us-east-1", Bucket, addresses.Add(1), s.URL)
}

func find() string {
	if path, err := exec.LookPath("versitygw"); err == nil {
		return path
	}
	gopath, err := exec.Command("go", "env", "GOPATH").Output()
	if err != nil {
		return ""
	}
	path := filepath.Join(string(gopath[:max(0, len(gopath)-1)]), "bin", "versitygw")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// setenv sets what every process of the test binary is to see; tests that run in parallel set the same.
func setenv(tb testing.TB, all map[string]string) {
	for name, value := range all {
		if err := os.Setenv(name, value); err != nil {
			tb.Fatal(err)
		}
	}
}

// Resume starts the server where it was stopped, with what it holds.
func (s *Server) Resume(tb testing.TB) {
	tb.Helper()
	s.process = exec.Command(s.program, "--access", AccessKey, "--secret", SecretKey, "--port", s.address, "--quiet",
		"posix", s.dir)
	s.process.Stderr = os.Stderr
	if err := s.process.Start(); err != nil {
		tb.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", s.address)
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("versitygw does not answer at %s", s.address)
		}
	}
}

// Stop ends the server; what it holds stays until the test ends.
func (s *Server) Stop() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// Keys lists the keys of all objects.
func (s *Server) Keys(tb testing.TB) (keys []string) {
	tb.Helper()
	files, err := s3.OpenFiles(tb.Context(), s3.Config{Bucket: Bucket, Endpoint: s.URL, PathStyle: true})
	if err != nil {
		tb.Fatal(err)
	}
	all, err := files.List(tb.Context(), "")
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range all {
		keys = append(keys, f.Name)
	}
	return keys
}

// Unfinished lists the keys of which only parts were sent.
func (s *Server) Unfinished(tb testing.TB) (keys []string) {
	tb.Helper()
	text, err := s.call(http.MethodGet, "?uploads=")
	if err != nil {
		tb.Fatal(err)
	}
	var page struct{ Upload []struct{ Key string } }
	if err := xml.Unmarshal(text, &page); err != nil {
		tb.Fatal(err)
	}
	for _, u := range page.Upload {
		keys = append(keys, u.Key)
	}
	return keys
}

// call sends a request about the bucket.
func (s *Server) call(method, query string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, s.URL+"/"+Bucket+query, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
	sign(r)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("s3test: %s %s: %s: %s", method, r.URL, answer.Status, text)
	}
	return text, err
}

func (s *Server) createBucket() error {
	_, err := s.call(http.MethodPut, "")
	return err
}
