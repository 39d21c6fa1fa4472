package conformance_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// largestBody is the largest body that the contract allows: all reference images, and the fields beside them.
const largestBody = imagegen.MaxReferences*imagegen.MaxReferenceBytes + 1<<20

// longestCall is how long the contract lets a synchronous call take.
const longestCall = 800 * time.Second

var (
	bodyLimit = regexp.MustCompile(`(?m)^\s*(?:max_size|client_max_body_size)\s+([0-9]+)([a-zA-Z]*);?$`)
	timeLimit = regexp.MustCompile(`(?m)^\s*(?:response_header_timeout|proxy_read_timeout|timeout (?:client|server))\s+([0-9]+s);?$`)
	// units are what Caddy and nginx understand by them.
	units = map[string]int64{"": 1, "MB": 1e6, "GB": 1e9, "MiB": 1 << 20, "GiB": 1 << 30, "m": 1 << 20, "g": 1 << 30}
)

// Each proxy in deploy/, and each in a document, lets through the largest body and the longest call.
func TestProxiesLetThroughWhatTheContractAllows(t *testing.T) {
	is := is.New(t)
	var proxies []string
	for _, dir := range []string{"deploy", "docs"} {
		is.NoErr(filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, ".go") {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text := string(b)
			unlimited := filepath.Ext(path) == ".cfg" // HAProxy limits no body
			if !unlimited && !regexp.MustCompile(`(?m)^\s*(reverse_proxy|proxy_pass) .*\S`).MatchString(text) {
				return nil
			}
			proxies = append(proxies, filepath.ToSlash(path))
			sizes, times := bodyLimit.FindAllStringSubmatch(text, -1), timeLimit.FindAllStringSubmatch(text, -1)
			if len(sizes) == 0 && !unlimited || len(times) == 0 {
				t.Errorf("%s does not say how large bodies and how long calls may be", path)
			}
			for _, m := range sizes {
				n, err := strconv.ParseInt(m[1], 10, 64)
				is.NoErr(err)
				unit, known := units[m[2]]
				if !known || n*unit < largestBody {
					t.Errorf("%s: %s%s is less than the %d bytes of the largest body", path, m[1], m[2], largestBody)
				}
			}
			for _, m := range times {
				limit, err := time.ParseDuration(m[1])
				is.NoErr(err)
				if limit <= longestCall {
					t.Errorf("%s: %v is less than the longest call takes", path, limit)
				}
			}
			return nil
		}))
	}
	is.Equal(len(proxies), 6) // Caddy and nginx for one node and for several, HAProxy, and Compose's
}
