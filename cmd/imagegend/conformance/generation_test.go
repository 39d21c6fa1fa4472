package conformance_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/matryer/is"
)

var synchronousChecks = []check{
	{
		name: "synchronous success",
		lines: []string{
			"spec: This document covers the whole public API",
			"spec: Base address: {base_url}.",
			"spec: Two modes: synchronous (default;",
			"spec: Stores a log of each generation",
			"spec: | object | string | Always `image_generation`.",
			"spec: | id | string | Generation log identifier",
			"spec: | status | string | See section 3.",
			"spec: | model | string | Model id used.",
			"spec: | aspect_ratio | string |",
			"spec: | quality | string | Resolution tier",
			"spec: | usage | object |",
			"spec: | balance | object |",
			"spec: | id | string | `<image_id>`.",
			"spec: | object | string | Always `image`.",
			"spec: | url | string |",
			"spec: | created_at | string | ISO 8601 UTC timestamp. |",
			"spec: Generation `status` values that appear",
			"spec: | POST | /api/v1/images/generations |",
			"spec: Two request encodings.",
			"spec: **JSON** (`Content-Type: application/json`)",
			"spec: **Synchronous response**",
			"contract: Timestamps `2006-01-02T15:04:05.000Z`",
			"contract: Generation, always:",
			"contract: | synchronous success | 200 |",
			"contract: | `Location` |",
		},
		run: checkSynchronous,
	},
	{
		name: "a generation is read as it was answered",
		lines: []string{
			"spec: Stores a log of each generation",
			"spec: | GET | /api/v1/generations/:generationId | Bearer |",
			"spec: Path parameter: `generationId`",
			"spec: Response: the saved generation log",
			"contract: Generation, always:",
		},
		run: checkGenerationIsRead,
	},
	{
		name: "credits are charged before the provider generates",
		lines: []string{
			"spec: Billing: credits are charged before",
			"spec: 3. Credits are charged before provider generation.",
			"contract: Generation, always:",
		},
		elsewhere: []string{"imagegen/engine.TestTheChargeComesFirst"},
	},
	{
		name: "a balance is as of its own settlement",
		lines: []string{
			"spec: | balance | object |",
			"contract: Generation, always:",
		},
		elsewhere: []string{"imagegen/client.TestOverHTTP", "proof/linear.TestMemory"},
	},
}

const (
	timeForm  = "2006-01-02T15:04:05.000Z"
	timestamp = pattern(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)
	genID     = pattern(`gen_\w+`)
	imageID   = pattern(`image_\w+`)
)

// succeeded is a generation of small images that has succeeded, as the service at url tells it.
func succeeded(url string, images int) object {
	all := make([]any, images)
	for i := range all {
		all[i] = object{"id": imageID, "object": "image", "url": pattern(url + `/images/\w+`), "created_at": timestamp,
			"width": 64, "height": 48, "content_type": "image/png", "provenance": "none"}
	}
	return object{
		"object": "image_generation", "id": genID, "status": "succeeded", "model": "fake-1", "prompt": "a fox",
		"n": images, "size": "64x48", "requested_quality": "auto", "reference_count": 0, "aspect_ratio": "4:3",
		"quality": "1K", "effort": "auto", "created_at": timestamp, "completed_at": timestamp, "images": all,
		"usage":    object{"credits": images, "credits_requested": images},
		"poll_url": pattern(url + `/api/v1/generations/gen_\w+`),
	}
}

// with is an object with some fields replaced or added.
func with(o, fields object) object {
	changed := object{}
	for _, from := range []object{o, fields} {
		for name, value := range from {
			changed[name] = value
		}
	}
	return changed
}

// without is an object without some fields.
func without(o object, names ...string) object {
	o = with(o, nil)
	for _, name := range names {
		delete(o, name)
	}
	return o
}

func checkSynchronous(t *testing.T, s *service) {
	is := is.New(t)
	a := s.account(t, 10)
	began := time.Now().Add(-time.Second)
	for _, async := range []object{{"n": 3}, {"n": 3, "async": false}} {
		before := a.credits(t).(int)
		sync := a.post(t, fox(async)).is(t, http.StatusOK)
		g := sync.object(t)
		same(t, g, with(succeeded(s.url, 3), object{"balance": object{"credits": before - 3, "account_type": "FREE",
			"next_expiration": nil}}))
		is.Equal(g["poll_url"], s.url+"/api/v1/generations/"+g["id"].(string))
		sync.has(t, "Location", g["poll_url"].(string), "Content-Type", "application/json", "Cache-Control", "no-store")
		same(t, a.credits(t), before-3)

		created, completed := moment(t, g["created_at"]), moment(t, g["completed_at"])
		is.True(created.After(began) && created.Before(time.Now().Add(time.Second))) // UTC, whatever the zone
		is.True(!completed.Before(created))
		for _, i := range g["images"].([]any) {
			at := moment(t, i.(object)["created_at"])
			is.True(!at.Before(created) && !at.After(completed))
		}
	}
}

func moment(t *testing.T, v any) time.Time {
	t.Helper()
	s, _ := v.(string)
	at, err := time.Parse(timeForm, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func checkGenerationIsRead(t *testing.T, s *service) {
	a := s.account(t, 10)
	made := a.generated(t, object{"n": 2})
	same(t, a.generation(t, made["id"]), without(made, "balance")) // only the answer of the call tells the balance
	same(t, a.get(t, made["poll_url"].(string)).object(t), without(made, "balance"))
	a.get(t, made["poll_url"].(string)).is(t, http.StatusOK).has(t, "Retry-After", "", "Cache-Control", "no-store")
}
