package conformance_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
)

const listLine = "contract: | `GET /api/v1/generations?limit=&after=&status=` |"

var listChecks = []check{
	{name: "the list", lines: []string{listLine, "spec: Stores a log of each generation"}, run: checkList},
	{name: "pages of the list", lines: []string{listLine}, run: checkPages},
	{name: "the list by status", lines: []string{listLine}, elsewhere: []string{"imagegen/client.TestOverHTTP"}},
	{name: "lists that are refused", lines: []string{listLine, "spec: 6. A body or parameters that are invalid"},
		run: checkRefusedLists},
}

// list reads a page.
func (a *customer) list(t *testing.T, query string) object {
	t.Helper()
	return a.get(t, "/api/v1/generations"+query).is(t, http.StatusOK).has(t, "Content-Type", "application/json",
		"Cache-Control", "no-store").object(t)
}

func checkList(t *testing.T, s *service) {
	a, other := s.account(t, 10), s.account(t, 10)
	same(t, a.list(t, ""), object{"object": "list", "data": []any{}, "has_more": false, "next_cursor": nil})
	first := a.generated(t, object{"n": 2})
	other.generated(t, nil)
	a.post(t, fox(object{"prompt": "[fake:fail]"})).is(t, http.StatusInternalServerError)
	second := a.queued(t, nil)
	a.ended(t, second["id"])
	list := a.list(t, "")
	same(t, without(list, "data"), object{"object": "list", "has_more": false, "next_cursor": nil})
	data := list["data"].([]any)
	same(t, len(data), 3)
	same(t, []any{data[0].(object)["id"], data[1].(object)["status"], data[2].(object)["id"]},
		[]any{second["id"], "failed", first["id"]})
	for _, element := range data {
		same(t, element, a.generation(t, element.(object)["id"]))
	}
}

func checkPages(t *testing.T, s *service) {
	a := s.account(t, 100)
	var newest []any
	for range 23 {
		newest = append([]any{a.generated(t, object{"size": "16x16"})["id"]}, newest...)
	}
	same(t, ids(a.list(t, "")), newest[:20]) // 20 by default
	same(t, a.list(t, "")["next_cursor"], newest[19])
	same(t, ids(a.list(t, "?limit=100")), newest)
	var all []any
	page := a.list(t, "?limit=10")
	for pages := 1; ; pages++ {
		all = append(all, ids(page)...)
		if page["has_more"] == false {
			same(t, []any{pages, page["next_cursor"]}, []any{3, nil})
			break
		}
		page = a.list(t, fmt.Sprintf("?limit=10&after=%s", page["next_cursor"]))
	}
	same(t, all, newest)
	same(t, a.list(t, "?limit=23")["has_more"], false)
	same(t, ids(a.list(t, "?limit=1")), newest[:1])
	same(t, a.list(t, fmt.Sprintf("?after=%s", newest[22])), object{"object": "list", "data": []any{},
		"has_more": false, "next_cursor": nil})
}

func ids(page object) (all []any) {
	for _, element := range page["data"].([]any) {
		all = append(all, element.(object)["id"])
	}
	return all
}

func checkRefusedLists(t *testing.T, s *service) {
	a := s.account(t, 1)
	made := a.generated(t, nil)["id"].(string)
	for query, mentions := range map[string][]string{
		"limit=0":                   {"limit", "1", "100"},
		"limit=101":                 {"limit", "101", "100"},
		"limit=-1":                  {"limit", "-1"},
		"limit=ten":                 {"limit", "ten"},
		"limit=1.0":                 {"limit"},
		"limit=":                    {"limit"},
		"limit":                     {"limit"},
		"limit=%2B5":                {"limit"},
		"limit=05":                  {"limit"},
		"limit=1&limit=1":           {"limit"},
		"limit=1;after=x":           nil,
		"after=nope":                {"after", "nope"},
		"after=" + made + "x":       {"after"},
		"after=":                    {"after"},
		"status=done":               {"status", "done", "queued", "processing", "succeeded", "failed"},
		"status=Succeeded":          {"status", "Succeeded"},
		"status=":                   {"status"},
		"status=queued,failed":      {"status"},
		"offset=1":                  {"offset"},
		"state=failed":              {`"state"; the nearest known one is status`},
		"=1":                        nil,
		"Limit=1":                   {"Limit", "limit"},
		"limit=" + huge + huge:      {"limit"},
		url.QueryEscape("é") + "=1": {"é"},
		"%zz=1":                     nil,
	} {
		a.get(t, "/api/v1/generations?"+query).refused(t, http.StatusBadRequest, "invalid_request", mentions...)
	}
}

const huge = "99999999999999999999"
