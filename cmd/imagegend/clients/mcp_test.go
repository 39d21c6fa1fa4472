package clients

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// mcpAnswer is what mcp/generate.mjs writes.
type mcpAnswer struct {
	Tools []string
	Steps int
	Made  struct {
		Content    []struct{ Type, MimeType, URI, Data string }
		Structured struct {
			Status string
			Images []struct{ URL, File string }
		} `json:"structuredContent"`
	}
	Balance *struct {
		Structured struct{ Credits int } `json:"structuredContent"`
	}
}

// askWithMCP has the official client of the Model Context Protocol make an image.
func askWithMCP(t *testing.T, args ...string) (a mcpAnswer) {
	t.Helper()
	is := is.New(t)
	cmd := exec.Command("node", append([]string{"generate.mjs"}, args...)...)
	cmd.Dir = "mcp"
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Fatalf("%v: %s", err, exit.Stderr)
	}
	is.NoErr(err)
	is.NoErr(json.Unmarshal(out, &a))
	is.True(slices.Contains(a.Tools, "generate_image") && slices.Contains(a.Tools, "quote"))
	is.True(a.Steps > 0) // of progress
	is.Equal(a.Made.Structured.Status, "succeeded")
	is.Equal(len(a.Made.Structured.Images), 1)
	preview := a.Made.Content[len(a.Made.Content)-1]
	is.Equal(preview.Type+" "+preview.MimeType, "image image/jpeg")
	is.True(preview.Data != "")
	return a
}

func TestNodeMCPOverHTTP(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	_, key := d.NewUser(10)
	a := askWithMCP(t, d.URL+"/mcp", key)
	is.Equal(a.Balance.Structured.Credits, 9)
	r, err := http.Get(a.Made.Structured.Images[0].URL)
	is.NoErr(err)
	r.Body.Close()
	is.Equal(r.StatusCode, http.StatusOK)
	is.Equal(r.Header.Get("Content-Type"), "image/png")
}

func TestNodeMCPOverStdio(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	_, key := d.NewUser(10)
	dir := t.TempDir()
	a := askWithMCP(t, "--", daemontest.Build(t), "mcp", "--url", d.URL, "--api-key", key, "--dir", dir)
	b, err := os.ReadFile(filepath.Join(dir, a.Made.Structured.Images[0].File))
	is.NoErr(err)
	is.True(strings.HasPrefix(string(b), "\x89PNG"))
	is.Equal(d.MustBalance(t, key), 9)
}

// scenarios are those of the protocol's own conformance suite that are of a server with these capabilities. The others
// call tools, resources and prompts that only the suite's sample server has.
var scenarios = []string{"server-initialize", "ping", "tools-list", "server-sse-multiple-streams",
	"dns-rebinding-protection"}

func TestNodeMCPConformance(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	_, key := d.NewUser(10)
	to, err := url.Parse(d.URL)
	is.New(t).NoErr(err)
	// the suite knows no keys
	keyed := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Authorization", "Bearer "+key)
	}})
	t.Cleanup(keyed.Close)
	for _, scenario := range scenarios {
		t.Run(scenario, func(t *testing.T) {
			is := is.New(t)
			// it needs a newer one than Debian's
			cmd := exec.Command(filepath.Join("node_modules", "node", "bin", "node"),
				"node_modules/@modelcontextprotocol/conformance/dist/index.js", "server", "--url", keyed.URL+"/mcp",
				"--scenario", scenario)
			cmd.Dir = "mcp"
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Log(string(out))
			}
			is.NoErr(err)
			is.True(strings.Contains(string(out), "0 failed"))
		})
	}
}
