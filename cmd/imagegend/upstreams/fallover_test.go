package upstreams_test

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

const operatorPassword = "correct horse battery staple"

// broken is an upstream of OpenAI's that an operator must see to, as its API words it: answers of a model that was
// retired, to a key that is none, to an organisation that was not verified, to accounts without money. The statuses and
// codes are those of OpenAI's guide to error codes, of its deprecations page, and of openai-php/client issue 565.
var broken = map[string]struct {
	status int
	body   string
	cause  string // as operators see it
	probed bool   // it answers a question about the model likewise
}{
	"retired": {404,
		`{"error":{"message":"The model 'gpt-image-2' does not exist","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, "does not know the model", true},
	"bad-key": {401,
		`{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, "refused the API key", true},
	"unverified": {403,
		`{"error":{"message":"Your organization must be verified to use the model","type":"invalid_request_error","param":null,"code":null}}`, "must be verified", false},
	"no-credit": {429,
		`{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, "used up its quota", false},
	"limit": {400,
		`{"error":{"message":"Billing hard limit has been reached","type":"image_generation_user_error","param":null,"code":"billing_hard_limit_reached"}}`, "reached its limit", false},
}

// A member that waits for an operator costs nobody a picture: the reserve makes it, at the first request and at all
// that follow, and the cause stands in the log, in the console and in provider check.
func TestWaitsForAnOperator(t *testing.T) {
	is := is.New(t)
	reserve := serve(t, handler((&tasks{finished: true}).openai()))
	blocks, asked := map[string]string{}, map[string]*atomic.Int64{}
	for name, b := range broken {
		n := new(atomic.Int64)
		asked[name] = n
		address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && !b.probed {
				answer(w, object{"id": "gpt-image-2"})
				return
			}
			if r.Method == http.MethodPost {
				n.Add(1)
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(b.status)
			io.WriteString(w, b.body)
		}))
		member := `{name: %s, weight: %d, provider: {type: openai, private: true, base_url: %s/v1}}`
		blocks[name] = "{type: router, members: [" + fmt.Sprintf(member, "first", 1, address) + ", " +
			fmt.Sprintf(member, "reserve", 0, reserve) + "]}"
	}
	password := filepath.Join(t.TempDir(), "password")
	is.NoErr(os.WriteFile(password, []byte(operatorPassword), 0o600))
	models := modelsFile(t, blocks, nil)
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--models", models, "--operator-password-file",
		password}})
	_, key := d.NewUser(100)

	for name := range broken {
		for range 3 {
			is.Equal(d.Call(daemontest.Generate(key, object{"model": name, "prompt": "a fox"})).Status, http.StatusOK)
		}
		is.Equal(asked[name].Load(), int64(1)) // then it was left alone
	}
	is.Equal(d.MustBalance(t, key), 100-3*len(broken))
	page := systemPage(t, d.URL)
	checked, _, _ := check(t, "", "--models", models)
	checked = strings.Join(strings.Fields(checked), " ")
	for name, b := range broken {
		if !strings.Contains(d.Output(), "until an operator acts") || !strings.Contains(d.Output(), b.cause) {
			t.Errorf("the log does not name the cause of %s: %s", name, b.cause)
		}
		if !strings.Contains(page, "first: it is left alone for a while after blocked: ") ||
			!strings.Contains(page, b.cause) {
			t.Errorf("the console does not name the cause of %s: %s", name, b.cause)
		}
		if b.probed && !strings.Contains(checked, `NOT READY: router: member "first"`) || b.probed &&
			!strings.Contains(checked, b.cause) {
			t.Errorf("provider check does not name the cause of %s: %s", name, checked)
		}
	}
}

// systemPage is what the first operator sees of the service.
func systemPage(t *testing.T, base string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := http.Client{Jar: jar}
	defer browser.CloseIdleConnections()
	signedIn, err := browser.PostForm(base+"/console/signin", url.Values{"name": {"operator"},
		"password": {operatorPassword}})
	if err != nil {
		t.Fatal(err)
	}
	signedIn.Body.Close()
	answer, err := browser.Get(base + "/console/system")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return html.UnescapeString(string(text))
}
