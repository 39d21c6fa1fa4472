package httpapi_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// bodyIs compares a body to the letter: order of fields, nulls, empty lists. What differs from call
// to call is named: URL, GEN, IMAGE, TIME.
func (s *site) bodyIs(a answer, want string) {
	s.Helper()
	got := strings.ReplaceAll(a.body, s.server.URL, "URL")
	for _, r := range [][2]string{
		{`gen_[0-9A-Z]{26}`, "GEN"}, {`image_[0-9A-Z]{52}`, "IMAGE"}, {`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`,
			"TIME"},
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

const oneImage = `{"object":"image","id":"IMAGE","url":"URL/images/IMAGE","created_at":TIME,"width":64,"height":48,"content_type":"image/png","provenance":"none"}`

// What bodies are to the letter: the names and the order of the fields, nulls, empty lists, no escapes.
func TestBodies(t *testing.T) {
	held := hold()
	s := serve(t, httpapi.Options{})
	slow := serve(t, httpapi.Options{}, withProvider(held))
	nobodys := `{"object":"list","data":[],"has_more":false,"next_cursor":null}`
	s.bodyIs(s.do("GET", "/api/v1/generations", ""), nobodys)
	s.bodyIs(s.do("GET", "/api/v1/credits?any=thing", ""),
		`{"object":"balance","balance":{"credits":100,"account_type":"FREE","next_expiration":null}}`)

	const two = `{"object":"image_generation","id":"GEN","status":"succeeded","model":"fake-1","prompt":"a fox","n":2,` +
		`"size":"64x48","requested_quality":"auto","reference_count":0,"aspect_ratio":"4:3","quality":"1K","effort":"auto","created_at":TIME,"completed_at":TIME,` +
		`"images":[` + oneImage + `,` + oneImage +
		`],"usage":{"credits":2,"credits_requested":2},"poll_url":"URL/api/v1/generations/GEN"`
	a := s.post(fox(`,"n":2`))
	s.bodyIs(a, two+`,"balance":{"credits":98,"account_type":"FREE","next_expiration":null}}`)
	s.bodyIs(s.do("GET", s.path(a.Header.Get("Location")), ""), two+`}`)
	s.accepted(s.post(fox(`,"n":2`)), http.StatusOK)
	listed := s.do("GET", "/api/v1/generations?limit=1", "")
	s.bodyIs(listed, `{"object":"list","data":[`+two+`}],"has_more":true,"next_cursor":"GEN"}`)
	s.bodyIs(s.do("GET", "/api/v1/generations?status=failed", ""), nobodys)

	answer := func(status, completed, failure string) string {
		return `{"object":"image_generation","id":"GEN","status":"` + status +
			`","model":"fake-1","prompt":"<fox> & 狐","n":3,` +
			`"size":"auto","requested_quality":"low","reference_count":0,"aspect_ratio":"auto","quality":"1K","effort":"low","created_at":TIME,"completed_at":` + completed +
			`,"images":[],"usage":{"credits":0,"credits_requested":3},"poll_url":"URL/api/v1/generations/GEN"` +
			failure + `}`
	}
	a = slow.post(`{"model":"fake-1","prompt":"<fox> & 狐","n":3,"async":true,"quality":"low"}`)
	slow.bodyIs(a, answer("queued", "null", ""))
	close(held.release)
	slow.bodyIs(slow.ended(slow.path(a.Header.Get("Location"))), answer("failed", "TIME",
		`,"error":{"message":"the images could not be generated; the credits were returned; try again","code":"generationFailed"}`))

	_, err := s.DB.Grant(t.Context(), imagegen.Grant{User: imagegentest.Alice, Credits: 7, Expires: time.Date(2100, 1,
		2, 3, 4, 5, 678e6, time.UTC)})
	s.is.NoErr(err)
	s.is.Equal(s.do("GET", "/api/v1/credits", "").body,
		`{"object":"balance","balance":{"credits":103,"account_type":"FREE","next_expiration":{"credits":7,"expires_at":"2100-01-02T03:04:05.678Z"}}}`+"\n")
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

func TestModels(t *testing.T) {
	s := serve(t, httpapi.Options{})
	a := s.do("GET", "/api/v1/models?any=thing", "", "Authorization", "-")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.bodyIs(a, `{"object":"list","data":[{"id":"fake-1","object":"model","provider":"fake","credits":{"1K":1,"2K":2,"4K":4},`+
		`"default_options":{"aspect_ratio":"auto","quality":"1K"},"supported_qualities":["1K","2K","4K"],`+
		`"supported_efforts":{"1K":["auto","low","medium","high"],"2K":["auto","low","medium","high"],"4K":["auto","low","medium","high"]},`+
		`"supported_ratios":["auto","1:1","4:3","3:4","3:2","2:3","16:9","9:16","5:4","4:5","21:9","9:21","2:1","1:2","3:1","1:3"],`+
		`"supported_output_formats":["png","jpeg","webp"],"supported_backgrounds":["auto","opaque","transparent"],"supports_mask":true,"supports_seed":true,`+
		`"limits":{"reference_image_limit":16,"max_images":4,"max_prompt_length":32000,"max_reference_image_bytes":52428800,"max_seed":4294967295}}]}`)
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

// suspended is a ledger that refuses one account for good.
type suspended struct{ imagegen.Ledger }

func (suspended) Charge(context.Context, imagegen.Charge) error {
	return imagegen.ChargeRefused("this account is suspended; write to billing@example.org")
}

// The ledger's final refusal reaches the caller in its words, and no client takes it for one that passes.
func TestChargeRefused(t *testing.T) {
	s := serve(t, httpapi.Options{}, func(c *engine.Config) { c.Ledger = suspended{c.Ledger} })
	for _, q := range []string{fox(``), fox(`,"async":true`)} {
		a := s.post(q)
		s.is.Equal(a.StatusCode, http.StatusForbidden)
		s.bodyIs(a, `{"error":{"message":"this account is suspended; write to billing@example.org","code":"chargeRefused"}}`)
		s.is.Equal(a.Header.Get("Retry-After"), "")
	}
}
