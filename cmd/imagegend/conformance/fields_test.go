package conformance_test

import (
	"net/http"
	"testing"
)

var fieldChecks = []check{
	{
		name: "required fields and defaults",
		lines: []string{
			"spec: | model | string | yes |",
			"spec: | prompt | string | yes |",
			"spec: Which of `size`, `quality`, `n` and `prompt` are required",
			"contract: | required | `model`, `prompt`",
			"contract: | defaults | `n` 1,",
			"contract: | JSON types |",
		},
		elsewhere: []string{"imagegen/httpapi.TestJSONRefusals", "imagegen/httpapi.TestJSONAccepted"},
	},
	{
		name: "values that are refused",
		lines: []string{
			"spec: | quality | string | no |",
			"spec: | n | integer | no |",
			"spec: | async | boolean | no |",
			"spec: 6. A body or parameters that are invalid give 400",
			"spec: | n | 1 to 4 inclusive |",
			"spec: | 400 | invalid_request |",
			"spec: `{ \"error\": { \"message\": <string>",
			"spec: Body shape: the error object of 2.4",
			"spec: Maximum prompt length: not shown.",
			"contract: | required | `model`, `prompt`",
			"contract: | prompt length |",
			"contract: | JSON types |",
			"contract: | nothing is recorded |",
		},
		run:       checkRefusedRequests,
		elsewhere: []string{"imagegen/httpapi.TestJSONRefusals", "imagegen/httpapi.TestFormRefusals"},
	},
	{
		name: "values that are accepted",
		lines: []string{
			"spec: | prompt | string | yes |",
			"spec: | quality | string | no |",
			"spec: | n | integer | no |",
			"spec: | n | 1 to 4 inclusive |",
			"contract: | prompt length |",
			"contract: | unknown field or part |",
		},
		elsewhere: []string{"imagegen/client.TestOverHTTP", "imagegen/httpapi.TestJSONAccepted"},
	},
	{
		name: "unknown fields",
		lines: []string{
			"contract: One rule above all: **nothing that a caller asked for is silently dropped",
			"contract: | unknown field or part |",
		},
		elsewhere: []string{"imagegen/httpapi.TestJSONRefusals", "imagegen/httpapi.TestFormRefusals"},
	},
	{
		name: "JSON bodies that are refused",
		lines: []string{
			"spec: 6. A body or parameters that are invalid give 400",
			"contract: | JSON types |",
			"contract: | JSON body |",
		},
		elsewhere: []string{"imagegen/httpapi.TestJSONRefusals", "imagegen/httpapi.TestJSONBodyIsAtMostOneMiB"},
	},
	{
		name: "Content-Type",
		lines: []string{
			"spec: **JSON** (`Content-Type: application/json`)",
			"contract: | Content-Type |",
			"contract: | Content-Encoding |",
		},
		elsewhere: []string{"imagegen/httpapi.TestContentType", "imagegen/httpapi.TestCompressedBodies"},
	},
}

// The tests of the package that reads requests have all refusals with their words; here is one of each kind.
func checkRefusedRequests(t *testing.T, s *service) {
	a := s.account(t, 10)
	refused := func(got answer, mentions ...string) {
		t.Helper()
		got.refused(t, http.StatusBadRequest, "invalid_request", mentions...)
	}
	refused(a.post(t, fox(object{"n": 5})), "n must be from 1 to 4; got 5")
	refused(a.post(t, fox(object{"prompt": "\u00a0\u2003"})), "prompt is required")
	refused(a.post(t, fox(object{"aspect_ratio": "1:1"})), `unknown field "aspect_ratio"`)
	refused(a.send(t, "application/json", "{"), "malformed")
	refused(a.send(t, "text/plain", "{}"), "Content-Type")
	refused(a.call(t, request{method: http.MethodPost, address: generationsPath + "?n=4", key: a.key,
		body:   encode(t, fox(nil)),
		header: []string{"Content-Type", "application/json"}})) // fields belong in the body
	refused(a.form(t, part{name: "async", value: "yes"}), "async", "yes")
	refused(a.form(t, part{name: "cfg_scale", value: "7"}), `unknown field "cfg_scale"`)
	refused(a.form(t, reference("ok.png", picture(8, 6)), reference("text.png", []byte("a fox"))), "reference_image 2",
		"text.png", "PNG", "JPEG", "WebP")
	same(t, a.credits(t), 10)
	same(t, a.list(t, "")["data"], []any{})
}
