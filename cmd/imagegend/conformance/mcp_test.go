package conformance_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

var mcpChecks = []check{
	{
		name:   "tools for agents",
		lines:  []string{"contract: | `POST /mcp` |", "contract: | `mcp [--url URL]"},
		daemon: checkMCP,
		elsewhere: []string{"imagegen/mcpserver.TestPatience", "imagegen/mcpserver.TestGenerate",
			"imagegen/mcpserver.TestPreviewOfNoise", "imagegen/mcpserver.TestOwnership",
			"imagegen/mcpserver.TestFaults", "imagegen/mcpserver.TestOutside", "imagegen/mcpserver.TestSave",
			"imagegen/mcpserver.TestNulls", "imagegen/mcpserver.TestWhatIsLeftOut",
			"imagegen/httpapi/mcphttp.TestRequests", "imagegen/httpapi/mcphttp.TestBusyKey",
			"cmd/imagegend/internal/cli.TestMCP"},
	},
}

// checkMCP calls tools without any library, with the key of an account and without.
func checkMCP(t *testing.T) {
	s := serviceOf(daemontest.Start(t, daemontest.Options{}))
	c := s.account(t, 3)
	call := func(key, tool, arguments string) answer {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool,
			arguments)
		return s.call(t, request{method: http.MethodPost, address: "/mcp", key: key, body: strings.NewReader(body),
			header: []string{"Content-Type", "application/json", "Accept", "application/json, text/event-stream"}})
	}
	made := call(c.key, "generate_image", `{"prompt":"a fox","size":"48x32"}`).is(t, http.StatusOK).
		has(t, "X-Request-Id", pattern(".+"))
	for _, part := range []string{`"status":"succeeded"`, `"resource_link"`, s.url + "/images/image_", `"image/jpeg"`} {
		if !strings.Contains(string(made.body), part) {
			t.Errorf("the answer lacks %s: %s", part, made.body)
		}
	}
	if left := string(call(c.key, "get_balance", `{}`).is(t, http.StatusOK).body); !strings.Contains(left,
		`"credits":2`) {
		t.Errorf("2 credits should be left: %s", left)
	}
	call("", "get_balance", `{}`).refused(t, http.StatusUnauthorized, "missingApiKey")
	s.call(t, request{address: "/mcp", key: c.key}).refused(t, http.StatusMethodNotAllowed, "methodNotAllowed")
}
