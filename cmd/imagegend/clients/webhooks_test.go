package clients

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// hookSecrets are those of every endpoint. Receivers know the second one alone, as on the day on which it is changed.
var hookSecrets = []string{"whsec_1BhKSgX0KEr/lQ8pPFPDbXqe2qwoClVgd/jznBwkTWw=",
	"whsec_FDMLxhHh9EZ/vqFSX6LMM/x+6bkT3mLbhKw3h/F0ryk="}

// receiver is a program that takes events, in a process of its own, and what it has answered to the service.
type receiver struct {
	url string

	mu       sync.Mutex
	accepted []string // bodies
	refused  []int    // statuses
}

// A receiver in Node that verifies with the reference library accepts what the service sends, and no other.
func TestNodeWebhookReference(t *testing.T) {
	receives(t, "node", "webhooks/serve.mjs", "node/reference.mjs")
}

// The receivers of docs/events.md do.
func TestNodeWebhookReceiver(t *testing.T) {
	receives(t, "node", "webhooks/serve.mjs", documented(t, "js", "signed.mjs", "%s\nexport { signed };\n"))
}

func TestPythonWebhookReceiver(t *testing.T) {
	receives(t, "python3", "webhooks/serve.py", documented(t, "python", "signed.py", "%s"))
}

func TestGoWebhookReceiver(t *testing.T) {
	program := filepath.Join(t.TempDir(), "receiver")
	frame, err := os.ReadFile("webhooks/main.go.txt")
	is.New(t).NoErr(err)
	source := documented(t, "go", "main.go", string(frame))
	out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	receives(t, program)
}

// documented writes what docs/events.md has in a language into a file, within a frame.
func documented(t *testing.T, language, name, frame string) (path string) {
	t.Helper()
	is := is.New(t)
	page, err := os.ReadFile("../../../docs/events.md")
	is.NoErr(err)
	found := regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllSubmatch(page, -1)
	is.Equal(len(found), 1)
	path = filepath.Join(t.TempDir(), name)
	is.NoErr(os.WriteFile(path, fmt.Appendf(nil, frame, found[0][1]), 0o600))
	return path
}

// receives checks a program that serves at the address that it prints, and takes events at /hooks.
func receives(t *testing.T, program string, args ...string) {
	is := is.New(t)
	r := &receiver{url: started(t, program, args...) + "/hooks"}
	reference, err := standardwebhooks.NewWebhook(hookSecrets[1])
	is.NoErr(err)
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil || reference.Verify(body, q.Header) != nil {
			t.Errorf("the reference library refuses %v %s", q.Header, body)
		}
		w.WriteHeader(r.pass(t, body, q.Header))
	}))
	defer between.Close()
	file := filepath.Join(t.TempDir(), "hooks.yaml")
	is.NoErr(os.WriteFile(file, fmt.Appendf(nil, "- {name: shop, url: %s, private: true, secrets: [%q, %q]}\n",
		between.URL, hookSecrets[0], hookSecrets[1]), 0o600))
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--events", "--webhooks", file}})
	daemontest.Eventually(t, time.Minute, "the webhook has a place", func() bool {
		return strings.Contains(d.Admin("webhook", "list"), "shop")
	})
	_, key := d.NewUser(10)
	is.Equal(d.Call(daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox"})).Status,
		http.StatusOK)
	is.True(strings.HasPrefix(d.Admin("webhook", "test", "shop"), "status 20"))
	daemontest.Eventually(t, time.Minute, "all events have come", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return strings.Contains(strings.Join(r.accepted, "\n"), "generation.succeeded") || len(r.refused) > 0
	})
	r.mu.Lock()
	is.Equal(len(r.accepted), 6) // of a user, its credits, its key, the generation, its end, and the test
	is.Equal(len(r.refused), 0)
	r.mu.Unlock()
	r.refuses(t, reference)
}

// started starts a program that ends with the test, and returns the address that it prints.
func started(t *testing.T, program string, args ...string) string {
	t.Helper()
	is := is.New(t)
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "WEBHOOK_SECRET="+hookSecrets[1]), os.Stderr
	out, err := cmd.StdoutPipe()
	is.NoErr(err)
	is.NoErr(cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	is.NoErr(err)
	return strings.TrimSpace(address)
}

// send sends a request to the program, which must outlive it.
func (r *receiver) send(t *testing.T, body []byte, header http.Header) (status int) {
	t.Helper()
	q, err := http.NewRequest(http.MethodPost, r.url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header = header
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Errorf("no answer: %v", err)
		return http.StatusBadGateway
	}
	answer.Body.Close()
	return answer.StatusCode
}

// pass passes a delivery on, and notes what became of it.
func (r *receiver) pass(t *testing.T, body []byte, header http.Header) (status int) {
	status = r.send(t, body, header)
	r.mu.Lock()
	defer r.mu.Unlock()
	if status/100 == 2 {
		r.accepted = append(r.accepted, string(body))
	} else {
		r.refused = append(r.refused, status)
	}
	return status
}

// refuses sends the program what it has to refuse.
func (r *receiver) refuses(t *testing.T, reference *standardwebhooks.Webhook) {
	t.Helper()
	is := is.New(t)
	other, err := standardwebhooks.NewWebhook(hookSecrets[0])
	is.NoErr(err)
	body, now := []byte(`{"type":"credits.low"}`), time.Now()
	signed := func(by *standardwebhooks.Webhook, at time.Time) http.Header {
		signature, err := by.Sign("evt_1", at, body)
		is.NoErr(err)
		return http.Header{"Content-Type": {"application/json"}, "Webhook-Id": {"evt_1"},
			"Webhook-Timestamp": {fmt.Sprint(at.Unix())}, "Webhook-Signature": {signature}}
	}
	without := func(name string) http.Header {
		h := signed(reference, now)
		h.Del(name)
		return h
	}
	with := func(name, value string) http.Header {
		h := signed(reference, now)
		h.Set(name, value)
		return h
	}
	is.Equal(r.send(t, body, signed(reference, now))/100, 2)
	for what, header := range map[string]http.Header{
		"another secret":   signed(other, now),
		"six minutes old":  signed(reference, now.Add(-6*time.Minute)),
		"six minutes fast": signed(reference, now.Add(6*time.Minute)),
		"another event":    with("Webhook-Id", "evt_2"),
		"another time":     with("Webhook-Timestamp", fmt.Sprint(now.Unix()-1)),
		"no time":          with("Webhook-Timestamp", "now"),
		"a strange letter": with("Webhook-Signature", "v1,\u00e9"),
		"half a signature": with("Webhook-Signature", "v1,"),
		"not signed":       without("Webhook-Signature"),
		"without a time":   without("Webhook-Timestamp"),
		"without a name":   without("Webhook-Id"),
	} {
		if status := r.send(t, body, header); status != http.StatusUnauthorized {
			t.Errorf("%s: the answer is %d", what, status)
		}
	}
	is.Equal(r.send(t, []byte(`{"type":"credits.granted"}`), signed(reference, now)), http.StatusUnauthorized)
	is.Equal(r.send(t, body, signed(reference, now))/100, 2) // it is there still
}
