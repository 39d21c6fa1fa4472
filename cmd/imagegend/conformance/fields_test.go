package conformance_test

import (
	"net/http"
	"strings"
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
		},
		run: checkDefaults,
	},
	{
		name: "null is absent",
		lines: []string{
			"contract: | required | `model`, `prompt`",
			"contract: | JSON types |",
		},
		run: checkNull,
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
		run: checkRefusedValues,
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
		run: checkAcceptedValues,
	},
	{
		name: "unknown fields",
		lines: []string{
			"contract: One rule above all: **nothing that a caller asked for is silently dropped",
			"contract: | unknown field or part |",
		},
		run: checkUnknownFields,
	},
}

func checkDefaults(t *testing.T, s *service) {
	a := s.account(t, 10)
	g := a.post(t, object{"model": "fake-1", "prompt": "a fox"}).is(t, http.StatusOK).object(t)
	same(t, []any{g["status"], g["n"], g["size"], g["requested_quality"], g["aspect_ratio"], g["quality"], len(g["images"].([]any))},
		[]any{"succeeded", 1, "auto", "auto", "auto", "1K", 1})
	for _, required := range []string{"model", "prompt"} {
		a.post(t, without(fox(nil), required)).refused(t, http.StatusBadRequest, "invalid_request", required)
		a.post(t, fox(object{required: nil})).refused(t, http.StatusBadRequest, "invalid_request", required)
	}
	same(t, a.credits(t), 9)
}

func checkNull(t *testing.T, s *service) {
	a := s.account(t, 10)
	g := a.post(t, object{"model": "fake-1", "prompt": "a fox", "size": nil, "quality": nil, "n": nil, "async": nil,
		"user": nil, "response_format": nil}).is(t, http.StatusOK).object(t)
	same(t, []any{g["status"], g["n"], g["size"], g["requested_quality"]}, []any{"succeeded", 1, "auto", "auto"})
}

func checkRefusedValues(t *testing.T, s *service) {
	a := s.account(t, 10)
	for _, c := range []struct {
		field    string
		value    any
		mentions []string
	}{
		{"model", "fake-2", []string{"fake-2", "fake-1"}},
		{"model", "FAKE-1", []string{"FAKE-1", "fake-1"}},
		{"model", 1, nil},
		{"prompt", "", nil},
		{"prompt", " \t\r\n\u00a0\u2003", []string{"blank"}},
		{"prompt", []any{"a fox"}, nil},
		{"prompt", strings.Repeat("x", 32_001), []string{"32001", "32000"}},
		{"prompt", strings.Repeat("🦊", 32_001), []string{"32001", "32000"}},
		{"quality", "best", []string{"best", "auto", "low", "medium", "high"}},
		{"quality", "High", []string{"High"}},
		{"quality", "1K", []string{"1K"}},
		{"quality", "", nil},
		{"quality", true, nil},
		{"n", 0, []string{"0", "1", "4"}},
		{"n", 5, []string{"5", "1", "4"}},
		{"n", -1, []string{"-1", "1", "4"}},
		{"n", 1e30, nil},
		{"n", 1.5, []string{"1.5"}},
		{"n", "2", nil},
		{"n", true, nil},
		{"n", []any{2}, nil},
		{"async", "true", nil},
		{"async", 1, nil},
		{"async", object{}, nil},
		{"size", 1024, nil},
		{"user", 1, nil},
		{"response_format", "b64_json", []string{"b64_json", "url"}},
	} {
		a.post(t, fox(object{c.field: c.value})).refused(t, http.StatusBadRequest, "invalid_request", append(c.mentions, c.field)...)
	}
	same(t, a.credits(t), 10)
	same(t, a.get(t, "/api/v1/generations").object(t)["data"], []any{})
}

func checkAcceptedValues(t *testing.T, s *service) {
	a := s.account(t, 100)
	for n := 1; n <= 4; n++ {
		g := a.generated(t, object{"n": n})
		same(t, []any{g["n"], len(g["images"].([]any)), g["usage"]}, []any{n, n, object{"credits": n, "credits_requested": n}})
	}
	for _, quality := range []string{"auto", "low", "medium", "high"} {
		same(t, a.generated(t, object{"quality": quality})["requested_quality"], quality)
	}
	for _, prompt := range []string{"  a fox\n", strings.Repeat("🦊", 32_000), "<b>&\u2028\x00", "[fak:e]"} {
		g := a.generated(t, object{"prompt": prompt})
		same(t, []any{g["prompt"], a.generation(t, g["id"])["prompt"]}, []any{prompt, prompt})
	}
	same(t, without(a.generated(t, object{"user": "somebody", "response_format": "url"}), "balance"), succeeded(s.url, 1))
}

func checkUnknownFields(t *testing.T, s *service) {
	a := s.account(t, 10)
	for field, nearest := range map[string]string{
		"aspect_ratio": "", "seed": "", "mask": "", "stream": "", "Prompt": "prompt", "promt": "prompt", "sizes": "size", "qualty": "quality",
	} {
		a.post(t, fox(object{field: "1"})).refused(t, http.StatusBadRequest, "invalid_request", field, nearest)
		a.form(t, part{name: field, value: "1"}).refused(t, http.StatusBadRequest, "invalid_request", field, nearest)
		a.form(t, part{name: field, value: string(picture(8, 8)), file: "a.png"}).refused(t, http.StatusBadRequest, "invalid_request", field)
	}
	same(t, a.credits(t), 10)
}
