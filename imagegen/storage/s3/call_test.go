package s3

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"
)

// ask gives a client for a configuration, with credentials from the environment.
func ask(t *testing.T, c Config) *client {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	o, err := newClient(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// The bucket is where Amazon's tools would look for it.
func TestWhereTheBucketIs(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(profile, []byte("[profile minio]\nregion = eu-north-1\nservices = here\n"+
		"[services here]\ns3 =\n  endpoint_url = http://profile:9000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		config      Config
		environment map[string]string
		want        string
	}{
		"Amazon":    {Config{Bucket: "images", Region: "eu-west-1"}, nil, "https://images.s3.eu-west-1.amazonaws.com/a"},
		"no region": {Config{Bucket: "images"}, nil, "https://images.s3.us-east-1.amazonaws.com/a"},
		"in China": {Config{Bucket: "images", Region: "cn-north-1"}, nil,
			"https://images.s3.cn-north-1.amazonaws.com.cn/a"},
		"with a dot": {Config{Bucket: "my.images"}, nil, "https://s3.us-east-1.amazonaws.com/my.images/a"},
		"in the path": {Config{Bucket: "images", PathStyle: true, Endpoint: "http://minio:9000/"}, nil,
			"http://minio:9000/images/a"},
		"in the host": {Config{Bucket: "images", Endpoint: "https://ceph"}, nil, "https://images.ceph/a"},
		"at a number": {Config{Bucket: "images", Endpoint: "http://[::1]:9000"}, nil, "http://[::1]:9000/images/a"},
		"by the environment": {Config{Bucket: "images"}, map[string]string{"AWS_ENDPOINT_URL_S3": "https://one",
			"AWS_ENDPOINT_URL": "https://all"}, "https://images.one/a"},
		"by the environment of all": {Config{Bucket: "images"}, map[string]string{"AWS_ENDPOINT_URL": "https://all"},
			"https://images.all/a"},
		"whatever is configured": {Config{Bucket: "images"}, map[string]string{"AWS_ENDPOINT_URL_S3": "https://one",
			"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"}, "https://images.s3.us-east-1.amazonaws.com/a"},
		"by the profile": {Config{Bucket: "images"}, map[string]string{"AWS_PROFILE": "minio",
			"AWS_CONFIG_FILE": profile}, "http://images.profile:9000/a"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			for name, value := range test.environment {
				t.Setenv(name, value)
			}
			r, err := ask(t, test.config).request(t.Context(), call{method: http.MethodGet, key: "a"})
			is.NoErr(err)
			is.Equal(r.URL.String(), test.want)
		})
	}
}

// A machine whose clock is wrong learns from the first refusal what time it is.
func TestClocksThatDiffer(t *testing.T) {
	is := is.New(t)
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		now := time.Now().Add(-3 * time.Hour)
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
		signed, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
		if err != nil || signed.Sub(now).Abs() > 15*time.Minute {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, "<Error><Code>RequestTimeTooSkewed</Code></Error>")
		}
	}))
	defer s.Close()
	c := ask(t, Config{Bucket: "images", Endpoint: s.URL})
	for range 2 {
		_, err := c.read(t.Context(), call{method: http.MethodDelete, key: "a"}, nil)
		is.NoErr(err)
	}
	is.Equal(asked, 3)
}

// Every character of a key arrives, and what is refused says why.
func TestKeysAndRefusals(t *testing.T) {
	is := is.New(t)
	const key = "a b/../+%2F?#&=ü'"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path != "/images/"+key {
			t.Errorf("the path is %q", r.URL.Path)
		}
		w.Header().Set("X-Amz-Request-Id", "R1")
		w.WriteHeader(http.StatusForbidden)
		_ = xml.NewEncoder(w).Encode(refusal{Code: "AccessDenied", Message: "no"})
	}))
	defer s.Close()
	_, err := ask(t, Config{Bucket: "images", Endpoint: s.URL}).do(t.Context(), call{method: http.MethodGet, key: key})
	is.Equal(err.Error(), "the object store answered 403, AccessDenied: no, request R1")
}
