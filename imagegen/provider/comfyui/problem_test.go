package comfyui_test

import (
	"io"
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/comfyui"
	"github.com/imagegend/imagegend/imagegen/provider/comfyui/internal/comfyuitest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

// at answers requests for a path, and leaves the others to the server.
func at(prefix string, status int, body string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, prefix) {
			return false
		}
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		io.WriteString(w, strings.ReplaceAll(body, "ID", path.Base(r.URL.Path)))
		return true
	}
}

func TestProblems(t *testing.T) {
	hangUp := func(path string) func(http.ResponseWriter, *http.Request) bool {
		return func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasPrefix(r.URL.Path, path) {
				panic(http.ErrAbortHandler)
			}
			return false
		}
	}
	for name, c := range map[string]struct {
		before func(http.ResponseWriter, *http.Request) bool
		prompt string
		images int // of two
		class  imagegen.Class
		after  time.Duration
		says   string
	}{
		"a node fails": {nil, comfyuitest.Failing, 0, imagegen.ClassUnknown, 0,
			`node "KSampler" of the workflow failed: ZeroDivisionError: division by zero`},
		"out of memory":       {nil, comfyuitest.Memory, 0, imagegen.ClassUnavailable, 0, "Allocation on device"},
		"nothing saved":       {nil, comfyuitest.Unsaved, 0, imagegen.ClassUnknown, 0, "needs a SaveImage node"},
		"a file that is gone": {nil, comfyuitest.Vanished, 1, imagegen.ClassUnknown, 0, "404"},
		"a proxy's limit": {at("/prompt", 429, "<html>slow down</html>"), "", 0, imagegen.ClassRateLimited,
			7 * time.Second, "slow down"},
		"a proxy's page": {at("/prompt", 502, "<html>Bad Gateway</html>"), "", 0, imagegen.ClassUnknown, 0,
			"Bad Gateway"},
		"a bad key": {at("/prompt", 401, "unauthorized"), "", 0, imagegen.ClassBlocked, 0,
			"refused the API key"},
		"a key that went bad": {at("/history", 401, "unauthorized"), "", 0, imagegen.ClassUnknown, 0,
			"refused the API key"}, // the work was taken in
		"a size beyond a node's": {at("/prompt", 400,
			`{"error":{"type":"prompt_outputs_failed_validation"},"node_errors":{"4":{"errors":[{"type":"value_bigger_than_max"}]}}}`),
			"", 0, imagegen.ClassInvalid, 0, "value_bigger_than_max"},
		"no JSON": {at("/prompt", 200, "<html>welcome</html>"), "", 0, imagegen.ClassUnknown, 0,
			"could not be read"},
		"no id":                   {at("/prompt", 200, "{}"), "", 0, imagegen.ClassUnknown, 0, "under which id"},
		"hangs up at submission":  {hangUp("/prompt"), "", 0, imagegen.ClassUnknown, 0, "lost before it answered"},
		"hangs up at the picture": {hangUp("/view"), "", 0, imagegen.ClassUnknown, 0, "lost before it answered"},
		"no history": {func(w http.ResponseWriter, r *http.Request) bool { return failedPoll(w, r, "0") },
			"", 0, imagegen.ClassUnknown, 0, "500 Internal Server Error"},
		"an interruption": {at("/history", 200,
			`{"ID":{"outputs":{},"status":{"status_str":"error","messages":[["execution_start",{}],["execution_interrupted",{}]]}}}`),
			"", 0, imagegen.ClassUnavailable, 0, "interrupted in ComfyUI"},
		"a failure without a reason": {at("/history", 200, `{"ID":{"outputs":{},"status":{"status_str":"error"}}}`), "",
			0, imagegen.ClassUnknown, 0, "does not say why"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			p := serve(t, &comfyuitest.Server{Before: c.before}, func(c *comfyui.Config) { c.APIKey = "proxy-key" })
			images, err := providertest.Collect(t.Context(), p, providertest.Request(c.prompt, 2))
			is.Equal(len(images), c.images)
			e := providertest.Error(t, err)
			is.Equal(e.Class, c.class)
			is.Equal(e.RetryAfter, c.after)
			is.True(strings.Contains(err.Error(), c.says))
			is.True(!strings.Contains(err.Error(), "proxy-key"))
		})
	}
}

// A workflow that ComfyUI refuses is the operator's to mend: the error has what ComfyUI says of the node, and a
// class that does not blame the user.
func TestRefusedWorkflow(t *testing.T) {
	is := is.New(t)
	p := serve(t, &comfyuitest.Server{}, func(c *comfyui.Config) {
		c.Workflows = [][]byte{[]byte(strings.Replace(string(workflow(t, "text")), "VAEDecode", "VAEDecodeTiled", 1))}
	})
	_, err := providertest.Collect(t.Context(), p, providertest.Request("a fox", 1))
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassBlocked)
	is.True(strings.Contains(err.Error(), "VAEDecodeTiled is not installed"))
}

// A reference that may have arrived or not has cost nothing yet.
func TestReferenceThatIsNotStored(t *testing.T) {
	is := is.New(t)
	d := &comfyuitest.Server{Before: at("/upload", 502, "<html>Bad Gateway</html>")}
	_, err := providertest.Collect(t.Context(), serve(t, d, nil), edit("a fox", 1))
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassUnavailable)
	is.True(strings.Contains(err.Error(), "Bad Gateway"))
}

func failedPoll(w http.ResponseWriter, r *http.Request, after string) bool {
	if !strings.HasPrefix(r.URL.Path, "/history/") {
		return false
	}
	w.Header().Set("Retry-After", after)
	http.Error(w, "500 Internal Server Error", http.StatusInternalServerError)
	return true
}

// Polls that fail do not cost the picture.
func TestPollsThatFail(t *testing.T) {
	is := is.New(t)
	var polls atomic.Int64
	p := serve(t, &comfyuitest.Server{Before: func(w http.ResponseWriter, r *http.Request) bool {
		return strings.HasPrefix(r.URL.Path, "/history/") && polls.Add(1) <= 3 && failedPoll(w, r, "0")
	}}, nil)
	images, err := providertest.Collect(t.Context(), p, providertest.Request("a fox", 1))
	is.NoErr(err)
	is.Equal(len(images), 1)
}

// A poll after an answer with Retry-After comes no sooner.
func TestPollAfterALimit(t *testing.T) {
	is := is.New(t)
	var polls []time.Time
	p := serve(t, &comfyuitest.Server{Before: func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/history/") {
			return false
		}
		polls = append(polls, time.Now()) // one request at a time
		if len(polls) > 1 {
			return false
		}
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}}, nil)
	images, err := providertest.Collect(t.Context(), p, providertest.Request("a fox", 1))
	is.NoErr(err)
	is.Equal(len(images), 1)
	is.True(polls[1].Sub(polls[0]) >= time.Second)
}

// One submission that fails does not cost the others.
func TestSubmissionThatFails(t *testing.T) {
	is := is.New(t)
	var submissions atomic.Int64
	p := serve(t, &comfyuitest.Server{Before: func(w http.ResponseWriter, r *http.Request) bool {
		return r.URL.Path == "/prompt" && submissions.Add(1) == 3 && at("/", 429, "")(w, r)
	}}, nil)
	images, err := providertest.Collect(t.Context(), p, edit("a fox", 4))
	is.Equal(len(images), 2)
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassRateLimited)
}

func TestProbe(t *testing.T) {
	is := is.New(t)
	is.NoErr(serve(t, &comfyuitest.Server{}, nil).Probe(t.Context()))

	err := serve(t, &comfyuitest.Server{}, func(c *comfyui.Config) {
		c.Workflows = [][]byte{[]byte(strings.Replace(string(workflow(t, "text")), "VAEDecode", "VAEDecodeTiled", 1))}
	}).Probe(t.Context())
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), `ComfyUI has no node "VAEDecodeTiled"`))

	err = serve(t, &comfyuitest.Server{Before: at("/", 403, "")}, nil).Probe(t.Context())
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "refused the API key"))
}

func TestKeyIsSent(t *testing.T) {
	is := is.New(t)
	var keys []string
	d := &comfyuitest.Server{Before: func(_ http.ResponseWriter, r *http.Request) bool {
		keys = append(keys, r.Header.Get("Authorization")) // one request at a time
		return false
	}}
	_, err := providertest.Collect(t.Context(), serve(t, d, func(c *comfyui.Config) { c.APIKey = "proxy-key" }),
		providertest.Request("a fox", 1))
	is.NoErr(err)
	for _, key := range keys {
		is.Equal(key, "Bearer proxy-key")
	}
	is.Equal(len(keys), 3) // submission, history, picture
}
