// Package s3test starts an object store for tests: versitygw over a directory, on a free port.
package s3test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
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
	pages := s3.NewListObjectsV2Paginator(s.client(), &s3.ListObjectsV2Input{Bucket: aws.String(Bucket)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(tb.Context())
		if err != nil {
			tb.Fatal(err)
		}
		for _, o := range page.Contents {
			keys = append(keys, aws.ToString(o.Key))
		}
	}
	return keys
}

// Unfinished lists the keys of which only parts were sent.
func (s *Server) Unfinished(tb testing.TB) (keys []string) {
	tb.Helper()
	all, err := s.client().ListMultipartUploads(tb.Context(), &s3.ListMultipartUploadsInput{Bucket: aws.String(Bucket)})
	if err != nil {
		tb.Fatal(err)
	}
	for _, u := range all.Uploads {
		keys = append(keys, aws.ToString(u.Key))
	}
	return keys
}

func (s *Server) client() *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: &s.URL, UsePathStyle: true, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider(AccessKey, SecretKey, ""),
	})
}

func (s *Server) createBucket() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err := s.client().CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(Bucket)})
	if err != nil {
		return errors.Join(errors.New("s3test: the bucket was not made"), err)
	}
	return nil
}
