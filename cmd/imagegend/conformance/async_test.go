package conformance_test

import (
	"net/http"
	"testing"

	"github.com/matryer/is"
)

var asynchronousChecks = []check{
	{
		name: "asynchronous call",
		lines: []string{
			"spec: Two modes: synchronous (default;",
			"spec: | created_at | string | ISO 8601 UTC timestamp with milliseconds.",
			"spec: | images | array of Image | Empty while queued.",
			"spec: | usage | object |",
			"spec: | poll_url | string |",
			"spec: Generation `status` values that appear",
			"spec: | async | boolean | no |",
			"spec: **Asynchronous response**",
			"spec: No events and no webhooks are sent",
			"spec: | Async accepted status | HTTP 202 with poll_url |",
			"contract: Generation, always:",
			"contract: | `Location` |",
		},
		run: checkAsynchronous,
	},
	{
		name: "a pending generation",
		lines: []string{
			"spec: | images | array of Image | Empty while queued.",
			"contract: | pending GET |",
			"contract: | status | `queued` → `processing`",
		},
		run: checkPending,
	},
	{
		name: "status goes forward",
		lines: []string{
			"spec: Transitions: not shown.",
			"contract: | status | `queued` → `processing`",
		},
		elsewhere: []string{"imagegen.TestStateTable", "imagegen/engine.TestStatusNeverGoesBackwards"},
	},
	{
		name:      "asynchronous credits",
		lines:     []string{"contract: | asynchronous 402 |"},
		elsewhere: []string{"imagegen/client.TestOverHTTP"},
	},
}

// accepted is a generation that was accepted and has not ended.
func accepted(url, status string, images int) object {
	return with(succeeded(url, images), object{"status": status, "completed_at": nil, "images": []any{},
		"usage": object{"credits": 0, "credits_requested": images}})
}

func checkAsynchronous(t *testing.T, s *service) {
	a := s.account(t, 10)
	async := a.post(t, fox(object{"n": 2, "async": true})).is(t, http.StatusAccepted)
	g := async.object(t)
	same(t, g, accepted(s.url, "queued", 2))
	is.New(t).Equal(g["poll_url"], s.url+"/api/v1/generations/"+g["id"].(string))
	async.has(t, "Location", g["poll_url"].(string), "Content-Type", "application/json", "Cache-Control", "no-store")
	moment(t, g["created_at"])

	a.ended(t, g["id"])
	done := a.get(t, g["poll_url"].(string)).is(t, http.StatusOK).object(t)
	same(t, done, succeeded(s.url, 2))
	same(t, without(done, "status", "completed_at", "images", "usage"), without(g, "status", "completed_at", "images",
		"usage"))
	same(t, a.credits(t), 8)
}

func checkPending(t *testing.T, s *service) {
	s = s.start(t, settings{concurrency: 1})
	a := s.account(t, 10)
	first := a.queued(t, object{"prompt": "[fake:hang]"})
	second := a.queued(t, nil)
	a.reaches(t, first["id"], "processing")
	for id, status := range map[any]string{first["id"]: "processing", second["id"]: "queued"} {
		pending := a.get(t, "/api/v1/generations/"+id.(string)).is(t, http.StatusOK).has(t, "Retry-After", "2",
			"Cache-Control", "no-store")
		same(t, pending.object(t), with(accepted(s.url, status, 1), object{"prompt": pending.object(t)["prompt"]}))
	}
}
