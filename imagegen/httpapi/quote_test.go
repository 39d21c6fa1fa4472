package httpapi_test

import (
	"encoding/csv"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

func (s *site) quote(body string, header ...string) answer {
	s.Helper()
	return s.do("POST", "/api/v1/images/quote", body, append([]string{"Content-Type", "application/json"},
		header...)...)
}

// A quote says what the generation then costs, and takes nothing.
func TestQuote(t *testing.T) {
	s := serve(t, httpapi.Options{})
	for _, more := range []string{"", `,"n":3,"quality":"high"`, `,"reference_count":16`,
		`,"output_format":"jpeg","output_compression":80,"background":"opaque","seed":1`,
		`,"reference_count":null,"reference_image":null,"async":true,"user":"u","response_format":"url"`} {
		a := s.quote(fox(more))
		s.is.Equal(a.StatusCode, http.StatusOK)
		var q struct {
			Object, Model string
			AspectRatio   string `json:"aspect_ratio"`
			Quality       string
			N, Credits    int
			Balance       struct{ Credits int }
		}
		s.decoded(a, &q)
		s.is.Equal(q.Object+" "+q.Model, "quote fake-1")
		s.is.Equal(q.Balance.Credits, 100)
		s.is.True(q.Credits >= q.N && q.N > 0 && q.Quality != "" && q.AspectRatio != "")
	}
	s.untouched()
}

func TestQuoteIsRefused(t *testing.T) {
	s := serve(t, httpapi.Options{})
	for body, says := range map[string]string{
		fox(`,"n":5`):                      "n must be",
		fox(`,"reference_count":17`):       "reference_count must be an integer from 0 to 16",
		fox(`,"reference_count":-1`):       "reference_count must be",
		fox(`,"reference_count":1.5`):      "reference_count must be",
		fox(`,"reference_count":"1"`):      "reference_count must be",
		fox(`,"reference_image":"a.png"`):  "reference_image is a file: a quote needs no files, only reference_count",
		fox(`,"sede":1`):                   "unknown field",
		fox(`,"mask":"a.png"`):             "mask must be true or false in a quote, which needs no files; got a string",
		fox(`,"n":1,"n":1`):                "sent twice",
		`{"model":"fake-1","prompt":" "}`:  "prompt is required",
		`{"model":"other","prompt":"fox"}`: "unknown model",
		`[]`:                               "object",
	} {
		message := s.refused(s.quote(body), http.StatusBadRequest, imagegen.CodeInvalidRequest)
		if !strings.Contains(message, says) {
			t.Errorf("%s: %s", body, message)
		}
	}
	s.refused(s.do("POST", "/api/v1/images/quote", "a=b", "Content-Type", "application/x-www-form-urlencoded"),
		http.StatusBadRequest, imagegen.CodeInvalidRequest)
	s.refused(s.do("POST", "/api/v1/images/quote?n=2", fox(""), "Content-Type", "application/json"),
		http.StatusBadRequest, imagegen.CodeInvalidRequest)
	s.untouched()
}

func TestPreferWait(t *testing.T) {
	held := hold()
	s := serve(t, httpapi.Options{}, withProvider(held))
	g := s.accepted(s.post(fox(`,"async":true`)), http.StatusAccepted)
	<-held.called
	for prefer, applied := range map[string]string{
		"wait=1": "wait=1", `respond-async, Wait = "1"; x`: "wait=1", "wait=0": "", "wait=-1": "", "wait": "",
		"wait=x": "", "wait=99999999999": "wait=60", "return=minimal": "", "wait=1, wait=60": "wait=1",
	} {
		a := s.do("GET", "/api/v1/generations/"+g.ID, "", "Prefer", prefer)
		s.is.Equal(a.StatusCode, http.StatusOK)
		s.is.Equal(a.Header.Get("Preference-Applied"), applied)
		s.is.Equal(a.Header.Get("Retry-After"), "2")
		var pending generation
		s.decoded(a, &pending)
		s.is.True(pending.Status == "queued" || pending.Status == "processing")
	}
	answered := make(chan answer, 1)
	go func() { answered <- s.do("GET", "/api/v1/generations/"+g.ID, "", "Prefer", "wait=3600") }() // as long as it may
	close(held.release)
	a := <-answered
	s.is.Equal(a.Header.Get("Preference-Applied"), "wait=60")
	var ended generation
	s.decoded(a, &ended)
	s.is.Equal(ended.Status, "failed")
	s.refused(s.do("GET", "/api/v1/generations/gen_00000000000000000000000000", "", "Prefer", "wait=60"),
		http.StatusNotFound, imagegen.CodeNotFound)
}

func TestUsage(t *testing.T) {
	s := serve(t, httpapi.Options{})
	s.accepted(s.post(fox(`,"n":2`)), http.StatusOK)
	s.refused(s.post(`{"model":"fake-1","prompt":"[fake:fail] a fox"}`), http.StatusInternalServerError,
		imagegen.CodeGenerationFailed)
	var first struct{ Data []struct{ Day string } }
	s.decoded(s.do("GET", "/api/v1/usage?group_by=day", ""), &first)
	today := first.Data[0].Day
	s.bodyIs(s.do("GET", "/api/v1/usage?from="+today+"&to="+today, ""), `{"object":"usage","from":"`+today+`","to":"`+
		today+`","group_by":[],"data":[`+
		`{"day":null,"model":null,"key":null,"credits_charged":3,"credits_refunded":1,"credits_spent":2,"images":2,"generations":2,"failed":1,"cancelled":0}]}`)

	var r struct {
		From, To string
		GroupBy  []string `json:"group_by"`
		Data     []struct {
			Day, Model, Key string
			Spent           int `json:"credits_spent"`
		}
	}
	s.decoded(s.do("GET", "/api/v1/usage?group_by=key,day,model", ""), &r)
	s.is.Equal(r.To, today)
	s.is.Equal(cmp.Diff([]string{"key", "day", "model"}, r.GroupBy), "")
	s.is.Equal(len(r.Data), 1)
	s.is.True(r.Data[0].Day == today && r.Data[0].Model == "fake-1" && strings.HasPrefix(r.Data[0].Key, "key_") &&
		r.Data[0].Spent == 2)

	a := s.do("GET", "/api/v1/usage?group_by=model", "", "Accept", "text/csv")
	s.is.Equal(a.Header.Get("Content-Type"), "text/csv; charset=utf-8; header=present")
	s.is.Equal(a.Header.Get("Vary"), "Accept")
	rows, err := csv.NewReader(strings.NewReader(a.body)).ReadAll()
	s.is.NoErr(err)
	s.is.Equal(cmp.Diff([][]string{
		{"day", "model", "key", "credits_charged", "credits_refunded", "credits_spent", "images", "generations",
			"failed", "cancelled"},
		{"", "fake-1", "", "3", "1", "2", "2", "2", "1", "0"},
	}, rows), "")
	for accept, csv := range map[string]bool{
		"": false, "*/*": false, "application/json": false, "text/csv,application/json": false, "text/csv;q=0": false,
		"nonsense": false, "text/csv, */*;q=0.1": true, "application/json;q=0.5, text/csv": true,
		"text/csv;q=0.4": true,
	} {
		a := s.do("GET", "/api/v1/usage", "", "Accept", accept)
		s.is.Equal(strings.HasPrefix(a.Header.Get("Content-Type"), "text/csv"), csv)
	}
}

func TestUsageIsRefused(t *testing.T) {
	s := serve(t, httpapi.Options{})
	for query, says := range map[string]string{
		"from=yesterday":                "from must be a day, in UTC, such as 2026-01-31",
		"to=2026-02-30":                 "to must be a day",
		"from=1960-01-01":               "from must be a day",
		"from=2026-01-02&to=2026-01-01": "from comes first",
		"from=2024-01-01&to=2026-01-01": "more than 366 days",
		"group_by=hour":                 "grouped by [day model key member]",
		"group_by=day,day":              "names \"day\" twice",
		"group_by=":                     "no value",
		"since=2026-01-01":              "unknown query parameter",
		"to=2026-01-01&to=2026-01-01":   "sent twice",
		"%zz":                           "malformed",
	} {
		message := s.refused(s.do("GET", "/api/v1/usage?"+query, ""), http.StatusBadRequest,
			imagegen.CodeInvalidRequest)
		if !strings.Contains(message, says) {
			t.Errorf("%s: %s", query, message)
		}
	}
}

// Errors name the key whose limit is reached, and are held whatever comes at once.
func TestKeyLimits(t *testing.T) {
	held := hold()
	s := serve(t, httpapi.Options{}, withProvider(held), func(c *engine.Config) { c.Limits.Concurrency = 2 })
	is := is.New(t)
	raw, key, err := s.Engine.Accounts().MintLimitedKey(t.Context(), imagegentest.Alice, "ci", time.Time{},
		imagegen.KeyLimits{Credits: 2, Concurrent: 1})
	is.NoErr(err)
	s.key = raw.Reveal()
	s.accepted(s.post(fox(`,"async":true`)), http.StatusAccepted)
	a := s.post(fox(""))
	message := s.refused(a, http.StatusTooManyRequests, imagegen.CodeRateLimited)
	is.True(strings.Contains(message, `the API key "ci"`))
	is.Equal(a.Header.Get("Retry-After"), "2")
	_, err = s.Engine.Accounts().SetKeyLimits(t.Context(), key.ID, imagegen.KeyLimits{Credits: 2})
	is.NoErr(err)
	message = s.refused(s.post(fox(`,"n":2`)), http.StatusPaymentRequired, imagegen.CodeInsufficientCredits)
	is.True(strings.Contains(message, "limited to 2 credits in all; it has used 1, and this request costs 2"))
	close(held.release)
}
