package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/engine"

	"github.com/google/go-cmp/cmp"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// bodyIs compares a body to the letter: order of fields, nulls, empty lists. What differs from call
// to call is named: URL, GEN, IMAGE, TIME.
func (s *site) bodyIs(a answer, want string) {
	s.Helper()
	got := strings.ReplaceAll(a.body, s.server.URL, "URL")
	for _, r := range [][2]string{
		{`gen_[0-9A-Z]{26}`, "GEN"}, {`image_[0-9A-Z]{52}`, "IMAGE"}, {`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`, "TIME"},
	} {
		got = regexp.MustCompile(r[0]).ReplaceAllString(got, r[1])
	}
	if diff := cmp.Diff(want+"\n", got); diff != "" {
		s.Error(diff)
	}
	s.is.Equal(a.Header.Get("Content-Type"), "application/json")
	s.is.Equal(a.Header.Get("X-Content-Type-Options"), "nosniff")
}

// path is where an address of the service leads.
func (s *site) path(address string) string {
	s.Helper()
	path, ok := strings.CutPrefix(address, s.server.URL)
	s.is.True(ok)
	return path
}

const oneImage = `{"object":"image","id":"IMAGE","url":"URL/images/IMAGE","created_at":TIME,"width":64,"height":48,"content_type":"image/png"}`

func TestSynchronousSuccess(t *testing.T) {
	s := serve(t, httpapi.Options{})
	a := s.post(fox(`,"n":2`))
	s.bodyIs(a, `{"object":"image_generation","id":"GEN","status":"succeeded","model":"fake-1","prompt":"a fox","n":2,`+
		`"size":"64x48","requested_quality":"auto","reference_count":0,"aspect_ratio":"4:3","quality":"1K","created_at":TIME,"completed_at":TIME,`+
		`"images":[`+oneImage+`,`+oneImage+`],"usage":{"credits":2,"credits_requested":2},"poll_url":"URL/api/v1/generations/GEN",`+
		`"balance":{"credits":98,"account_type":"FREE","next_expiration":null}}`)
	g := s.accepted(a, http.StatusOK)
	s.is.Equal(a.Header.Get("Location"), g.PollURL)
	s.is.Equal(a.Header.Get("Cache-Control"), "no-store")
	s.is.Equal(a.Header.Get("X-Should-Retry"), "false")
	s.is.Equal(a.Header.Get("Retry-After"), "")

	stored := s.do("GET", s.path(g.PollURL), "")
	withoutBalance, _, _ := strings.Cut(a.body, `,"balance":`)
	s.is.Equal(stored.body, withoutBalance+"}\n")
	s.is.Equal(stored.Header.Get("Retry-After"), "")
	s.is.Equal(stored.Header.Get("Cache-Control"), "no-store")
	s.is.Equal(stored.Header.Get("X-Should-Retry"), "") // it costs nothing to ask again
}

func TestAsynchronous(t *testing.T) {
	held := hold()
	s := serve(t, httpapi.Options{}, withProvider(held))
	a := s.post(`{"model":"fake-1","prompt":"<fox> & 狐","n":3,"async":true,"quality":"low"}`)
	s.bodyIs(a, `{"object":"image_generation","id":"GEN","status":"queued","model":"fake-1","prompt":"<fox> & 狐","n":3,`+
		`"size":"auto","requested_quality":"low","reference_count":0,"aspect_ratio":"auto","quality":"1K","created_at":TIME,"completed_at":null,`+
		`"images":[],"usage":{"credits":0,"credits_requested":3},"poll_url":"URL/api/v1/generations/GEN"}`)
	g := s.accepted(a, http.StatusAccepted)
	s.is.Equal(a.Header.Get("Location"), g.PollURL)
	s.is.Equal(a.Header.Get("X-Should-Retry"), "false")
	s.is.True(strings.Contains(s.do("GET", "/api/v1/credits", "").body, `"credits":97`)) // gone already

	pending := s.do("GET", s.path(g.PollURL), "")
	s.is.Equal(pending.StatusCode, http.StatusOK)
	s.is.Equal(pending.Header.Get("Retry-After"), "2")
	s.is.Equal(pending.Header.Get("Cache-Control"), "no-store")
	s.is.True(strings.Contains(pending.body, `"completed_at":null`))

	close(held.release)
	s.bodyIs(s.ended(s.path(g.PollURL)), `{"object":"image_generation","id":"GEN","status":"failed","model":"fake-1","prompt":"<fox> & 狐","n":3,`+
		`"size":"auto","requested_quality":"low","reference_count":0,"aspect_ratio":"auto","quality":"1K","created_at":TIME,"completed_at":TIME,`+
		`"images":[],"usage":{"credits":0,"credits_requested":3},"poll_url":"URL/api/v1/generations/GEN",`+
		`"error":{"message":"the images could not be generated; the credits were returned; try again","code":"generationFailed"}}`)
	s.is.True(strings.Contains(s.do("GET", "/api/v1/credits", "").body, `"credits":100`))
}

// ended polls until the end.
func (s *site) ended(path string) (a answer) {
	s.Helper()
	s.until(func() bool {
		a = s.do("GET", path, "")
		s.is.Equal(a.StatusCode, http.StatusOK)
		return a.Header.Get("Retry-After") == ""
	})
	return a
}

func TestSynchronousFailure(t *testing.T) {
	s := serve(t, httpapi.Options{})
	failure := func(prompt string) string {
		t.Helper()
		a := s.post(`{"model":"fake-1","prompt":"` + prompt + `"}`)
		message := s.refused(a, http.StatusInternalServerError, imagegen.CodeGenerationFailed)
		s.is.Equal(a.Header.Get("X-Should-Retry"), "false")
		g := s.accepted(s.do("GET", s.path(a.Header.Get("Location")), ""), http.StatusOK) // its record is kept
		s.is.Equal(g.Status, "failed")
		return message
	}
	failed, refused := failure("[fake:fail]"), failure("[fake:refuse]")
	s.is.Equal(failure("[fake:panic]"), failed)
	s.is.True(strings.Contains(refused, "policy") && !strings.Contains(failed, "policy"))
	s.is.True(strings.Contains(s.do("GET", "/api/v1/credits", "").body, `"credits":100`))
}

func TestModels(t *testing.T) {
	s := serve(t, httpapi.Options{})
	a := s.do("GET", "/api/v1/models?any=thing", "", "Authorization", "-")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.bodyIs(a, `{"object":"list","data":[{"id":"fake-1","object":"model","provider":"fake","credits":{"1K":1,"2K":2,"4K":4},`+
		`"default_options":{"aspect_ratio":"auto","quality":"1K"},"supported_qualities":["1K","2K","4K"],`+
		`"supported_ratios":["auto","1:1","4:3","3:4","3:2","2:3","16:9","9:16","5:4","4:5","21:9","9:21","2:1","1:2","3:1","1:3"],`+
		`"limits":{"reference_image_limit":16,"max_images":4,"max_prompt_length":32000,"max_reference_image_bytes":52428800}}]}`)
	none := serve(t, httpapi.Options{}, func(c *engine.Config) { c.Models = nil })
	none.bodyIs(none.do("GET", "/api/v1/models", ""), `{"object":"list","data":[]}`)
}

// The list of models is sent whole or not at all.
func TestModelsOnCondition(t *testing.T) {
	s := serve(t, httpapi.Options{})
	whole := s.do("GET", "/api/v1/models", "")
	etag := whole.Header.Get("ETag")
	for _, c := range []struct {
		header, value string
		status        int
	}{
		{"If-None-Match", etag, http.StatusNotModified},
		{"If-None-Match", "W/" + etag, http.StatusNotModified},
		{"If-None-Match", `"other" , ` + etag, http.StatusNotModified},
		{"If-None-Match", "*", http.StatusNotModified},
		{"If-None-Match", `"other"`, http.StatusOK},
		{"If-Match", etag, http.StatusOK},
		{"If-Match", "*", http.StatusOK},
		{"If-Match", `"other"`, http.StatusPreconditionFailed},
		{"If-Match", "W/" + etag, http.StatusPreconditionFailed},
		{"Range", "bytes=0-9", http.StatusOK},
		{"Range", "bytes=99999-", http.StatusOK},
		{"Range", "junk", http.StatusOK},
	} {
		a := s.do("GET", "/api/v1/models", "", c.header, c.value)
		s.is.Equal(a.StatusCode, c.status)
		s.is.Equal(a.Header.Get("Accept-Ranges"), "")
		switch c.status {
		case http.StatusOK:
			s.is.Equal(a.body, whole.body)
		case http.StatusNotModified:
			s.is.Equal(a.Header.Get("ETag"), etag)
			s.is.Equal(a.Header.Get("Content-Type"), "")
		default:
			s.refused(a, c.status, "preconditionFailed")
			s.is.Equal(a.Header.Get("ETag"), "")
		}
	}
}

func TestBalance(t *testing.T) {
	s := serve(t, httpapi.Options{})
	s.bodyIs(s.do("GET", "/api/v1/credits?any=thing", ""), `{"object":"balance","balance":{"credits":100,"account_type":"FREE","next_expiration":null}}`)
	_, err := s.DB.Grant(t.Context(), imagegen.Grant{User: imagegentest.Alice, Credits: 7, Expires: time.Date(2100, 1, 2, 3, 4, 5, 678e6, time.UTC)})
	s.is.NoErr(err)
	a := s.do("GET", "/api/v1/credits", "")
	s.is.Equal(a.body, `{"object":"balance","balance":{"credits":107,"account_type":"FREE","next_expiration":{"credits":7,"expires_at":"2100-01-02T03:04:05.678Z"}}}`+"\n")
	s.is.Equal(a.Header.Get("Cache-Control"), "no-store")
}

// What is another's, unknown or malformed is the same answer, byte for byte.
func TestNotFoundIsOneAnswer(t *testing.T) {
	s := serve(t, httpapi.Options{})
	hers := s.accepted(s.post(fox("")), http.StatusOK).ID
	his := "Bearer " + s.Key(t, imagegentest.Bob)
	header := func(a answer) http.Header {
		a.Header.Del("X-Request-Id")
		a.Header.Del("Date")
		return a.Header
	}
	unknown := s.do("GET", "/api/v1/generations/gen_00000000000000000000000000", "", "Authorization", his)
	s.refused(unknown, http.StatusNotFound, imagegen.CodeNotFound)
	for _, id := range []string{hers, "x", "%00", "gen_%20", "..", "%e7%8b%90", strings.Repeat("g", 5000)} {
		a := s.do("GET", "/api/v1/generations/"+id, "", "Authorization", his)
		s.is.Equal(a.StatusCode, unknown.StatusCode)
		s.is.Equal(a.body, unknown.body)
		s.is.Equal(header(a), header(unknown))
	}
}

func TestList(t *testing.T) {
	s := serve(t, httpapi.Options{})
	s.bodyIs(s.do("GET", "/api/v1/generations", ""), `{"object":"list","data":[],"has_more":false,"next_cursor":null}`)
	var bodies []string // oldest first
	for range 3 {
		g := s.accepted(s.post(fox("")), http.StatusOK)
		bodies = append(bodies, strings.TrimSuffix(s.do("GET", s.path(g.PollURL), "").body, "\n"))
	}
	second := between(bodies[1], `"id":"`, `"`)
	a := s.do("GET", "/api/v1/generations?limit=2", "")
	s.is.Equal(a.body, fmt.Sprintf(`{"object":"list","data":[%s,%s],"has_more":true,"next_cursor":"%s"}`+"\n", bodies[2], bodies[1], second))
	s.is.Equal(a.Header.Get("Cache-Control"), "no-store")
	a = s.do("GET", "/api/v1/generations?limit=2&after="+second+"&status=succeeded", "")
	s.is.Equal(a.body, fmt.Sprintf(`{"object":"list","data":[%s],"has_more":false,"next_cursor":null}`+"\n", bodies[0]))
	s.bodyIs(s.do("GET", "/api/v1/generations?status=failed", ""), `{"object":"list","data":[],"has_more":false,"next_cursor":null}`)

	for _, query := range []string{"limit=0", "limit=101", "limit=-1", "limit=%2B5", "limit=05", "limit=x", "limit=", "limit", "limit=1&limit=1", "limit=1;after=x",
		"after=", "after=x", "after=" + second + "x", "status=", "status=done", "status=Failed", "state=failed", "Limit=1", "limit=%zz", "=1"} {
		s.refused(s.do("GET", "/api/v1/generations?"+query, ""), http.StatusBadRequest, imagegen.CodeInvalidRequest)
	}
	message := s.refused(s.do("GET", "/api/v1/generations?state=failed", ""), http.StatusBadRequest, imagegen.CodeInvalidRequest)
	s.is.True(strings.Contains(message, `"state"; the nearest known one is status`))
}

func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

// suspended is a ledger that refuses one account for good.
type suspended struct{ imagegen.Ledger }

func (suspended) Charge(context.Context, imagegen.Charge) error {
	return imagegen.RefuseCharge("this account is suspended; write to billing@example.org")
}

// What a ledger will not do reaches the caller in its words, and no client takes it for what passes.
func TestChargeRefused(t *testing.T) {
	s := serve(t, httpapi.Options{}, func(c *engine.Config) { c.Ledger = suspended{c.Ledger} })
	for _, q := range []string{fox(``), fox(`,"async":true`)} {
		a := s.post(q)
		s.is.Equal(a.StatusCode, http.StatusForbidden)
		s.bodyIs(a, `{"error":{"message":"this account is suspended; write to billing@example.org","code":"chargeRefused"}}`)
		s.is.Equal(a.Header.Get("Retry-After"), "")
	}
}
