package openapitest_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/httpapi/openapi"
	"github.com/imagegend/imagegend/imagegen/httpapi/openapi/openapitest"
)

// says answers every request alike.
type says struct {
	status      int
	contentType string
	body        string
}

func (s says) RoundTrip(r *http.Request) (*http.Response, error) {
	h := http.Header{"X-Request-Id": {"r"}, "Cache-Control": {"no-store"}, "Content-Type": {s.contentType}}
	return &http.Response{StatusCode: s.status, Header: h, Body: io.NopCloser(strings.NewReader(s.body)), Request: r},
		nil
}

const balance = `{"object":"balance","balance":{"credits":3,"account_type":"FREE","next_expiration":null}}`

// tell has a witness look at one exchange.
func tell(w *openapitest.Witness, method, path, sent string, s says) error {
	r, err := http.NewRequest(method, "http://x"+path, strings.NewReader(sent))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := w.Transport(s).RoundTrip(r)
	if err != nil {
		return err
	}
	_, err = io.ReadAll(response.Body)
	return err
}

func TestAnswers(t *testing.T) {
	const credits, failed = "/api/v1/credits", `{"error":{"message":"m","code":"notFound"}}`
	for name, c := range map[string]struct {
		method, path string
		says
		fits bool
	}{
		"as it should be": {"GET", credits, says{200, "application/json", balance}, true},
		"a field too many": {"GET", credits, says{200, "application/json", strings.Replace(balance, `{"credits"`,
			`{"more":1,"credits"`, 1)}, false},
		"a field too few": {"GET", credits, says{200, "application/json",
			strings.Replace(balance, `"credits":3,`, "", 1)}, false},
		"a field of another type": {"GET", credits, says{200, "application/json", strings.Replace(balance, "3", `"3"`,
			1)}, false},
		"another status":       {"GET", credits, says{201, "application/json", balance}, false},
		"another type":         {"GET", credits, says{200, "text/plain", balance}, false},
		"no JSON":              {"GET", credits, says{200, "application/json", balance[1:]}, false},
		"a header too few":     {"GET", credits, says{401, "application/json", failed}, false}, // WWW-Authenticate
		"an unknown path":      {"GET", "/api/v1/nothing", says{404, "application/json", failed}, true},
		"a path of its own":    {"GET", "/api/v1/nothing", says{200, "application/json", balance}, false},
		"beside the interface": {"GET", "/openapi.json", says{200, "application/json", "{}"}, true},
		"a method of its own":  {"POST", credits, says{200, "application/json", balance}, false},
		"an unknown method":    {"POST", credits, says{405, "application/json", failed}, true},
	} {
		t.Run(name, func(t *testing.T) {
			err := tell(openapitest.New(), c.method, c.path, "", c.says)
			is.New(t).Equal(err == nil, c.fits)
		})
	}
}

// A field that is deleted from the document is missed, in answers and in requests that were accepted.
func TestDeletedField(t *testing.T) {
	is := is.New(t)
	deleted := func(line string) *openapitest.Witness {
		is.Equal(bytes.Count(openapi.Document(), []byte(line)), 1)
		w, err := openapitest.Of(bytes.Replace(openapi.Document(), []byte(line), nil, 1))
		is.NoErr(err)
		return w
	}
	answered := says{200, "application/json", balance}
	is.NoErr(tell(openapitest.New(), "GET", "/api/v1/credits", "", answered))
	w := deleted(`"account_type": { "type": "string", "pattern": "^[A-Z0-9_]+$", "description": "A word of the operator's.", "examples": ["FREE", "PRO"] },`)
	is.True(tell(w, "GET", "/api/v1/credits", "", answered) != nil)

	const sent = `{"model":"m","prompt":"p","n":2,"size":null}`
	accepted := says{304, "", ""} // of which the document says nothing but the status
	ask := func(w *openapitest.Witness, sent string) error {
		return tell(w, "POST", "/api/v1/images/generations", sent, accepted)
	}
	accept := bytes.Replace(openapi.Document(), []byte(`"202": {`), []byte(`"304": { "description": "x" }, "202": {`),
		1)
	w, err := openapitest.Of(accept)
	is.NoErr(err)
	is.NoErr(ask(w, sent))
	is.True(ask(w, strings.Replace(sent, `"n"`, `"m"`, 1)) != nil)
}

// The report has what no exchange has shown, and nothing else.
func TestMissing(t *testing.T) {
	is := is.New(t)
	w := openapitest.New()
	const seen, field = "no answer of GET /api/v1/credits has the status 200",
		"nothing sent to or from /api/v1/credits has Balance.account_type"
	before := w.Missing("/api/v1/credits")
	is.True(slices.Contains(before, seen) && slices.Contains(before, field))
	is.NoErr(tell(w, "GET", "/api/v1/credits", "", says{200, "application/json", balance}))
	after := w.Missing("/api/v1/credits")
	is.True(!slices.Contains(after, seen) && !slices.Contains(after, field))
	is.True(slices.Contains(after, "no answer of GET /api/v1/credits has the status 401"))
	is.Equal(len(w.Missing("/nowhere")), 0)
}
