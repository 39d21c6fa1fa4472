package s3_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/s3"
)

// Without credentials an operator reads once what to set, and the machine's metadata address is asked only if the
// environment says so.
func TestNoCredentials(t *testing.T) {
	var asked atomic.Int32
	metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		http.NotFound(w, nil)
	}))
	defer metadata.Close()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", metadata.URL)
	check := func(t *testing.T) error {
		s, err := s3.Open(t.Context(), s3.Config{Bucket: "images", Endpoint: "http://127.0.0.1:1",
			Dir: filepath.Join(t.TempDir(), "way")})
		is.New(t).NoErr(err)
		defer s.Close()
		return s.Check(t.Context())
	}
	t.Run("by default", func(t *testing.T) {
		is := is.New(t)
		err := check(t)
		is.True(errors.Is(err, imagegen.ErrNotApplied))
		is.True(strings.Contains(err.Error(),
			"there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"))
		is.Equal(strings.Count(err.Error(), "no credentials"), 1)
		is.True(!strings.Contains(err.Error(), "operation error"))
		is.Equal(asked.Load(), int32(0))
	})
	t.Run("on a machine with a role", func(t *testing.T) {
		is := is.New(t)
		t.Setenv("AWS_EC2_METADATA_DISABLED", "false")
		err := check(t)
		is.True(strings.Contains(err.Error(), "the credentials cannot be had: "))
		is.True(asked.Load() > 0)
	})
}
