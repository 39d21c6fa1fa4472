package conformance_test

import (
	"net/http"
	"strings"
	"testing"
)

var jsonChecks = []check{
	{
		name: "JSON bodies that are refused",
		lines: []string{
			"spec: 6. A body or parameters that are invalid give 400",
			"contract: | JSON types |",
			"contract: | JSON body |",
		},
		run: checkRefusedJSON,
	},
	{
		name:  "the size of a JSON body",
		lines: []string{"contract: | JSON body |"},
		run:   checkJSONSize,
	},
	{
		name: "Content-Type",
		lines: []string{
			"spec: **JSON** (`Content-Type: application/json`)",
			"contract: | Content-Type |",
		},
		run: checkContentType,
	},
}

// send sends a body as it is.
func (a *customer) send(t *testing.T, contentType, body string) answer {
	t.Helper()
	header := []string{"Content-Type", contentType}
	if contentType == "" {
		header = nil
	}
	return a.call(t, request{method: http.MethodPost, address: generationsPath, key: a.key, header: header, body: strings.NewReader(body)})
}

const plainFox = `{"model":"fake-1","prompt":"a fox","size":"64x48"}`

func checkRefusedJSON(t *testing.T, s *service) {
	a := s.account(t, 10)
	for _, body := range []string{
		"", " ", "null", "[]", `"a fox"`, "1", "{", "a fox",
		"[" + plainFox + "]",
		plainFox + plainFox, plainFox + "x", plainFox + ",", plainFox + "\x00",
		`{"model":"fake-1","prompt":"a fox",}`,
		`{'model':'fake-1','prompt':'a fox'}`,
		`{"model":"fake-1","prompt":"a ` + "\xff" + `"}`,
		`{"model":"fake-1","prompt":"a fox","n":01}`,
		`{"model":"fake-1","prompt":"a fox","n":NaN}`,
		`{"model":"fake-1","prompt":"a fox","n":1.0}`,
		`{"model":"fake-1","prompt":"a fox","n":1e0}`,
		`{"model":"fake-1","prompt":"a fox","Async":true}`,
		`{"model":"fake-1","PROMPT":"a fox"}`,
	} {
		a.send(t, "application/json", body).refused(t, http.StatusBadRequest, "invalid_request")
	}
	for _, twice := range []string{
		`{"model":"fake-1","prompt":"a fox","n":1,"n":1}`,
		`{"model":"fake-1","prompt":"a fox","n":null,"n":1}`,
		`{"model":"fake-1","prompt":"a fox","n":1,"\u006e":1}`,
	} {
		a.send(t, "application/json", twice).refused(t, http.StatusBadRequest, "invalid_request", "n ", "twice")
	}
	for _, file := range []string{"reference_image", "image"} {
		a.send(t, "application/json", `{"model":"fake-1","prompt":"a fox","`+file+`":"fox.png"}`).
			refused(t, http.StatusBadRequest, "invalid_request", file, "multipart/form-data")
	}
	same(t, a.credits(t), 10)
	a.send(t, "application/json", " \r\n"+plainFox+"\t\n").is(t, http.StatusOK)
}

func checkJSONSize(t *testing.T, s *service) {
	a := s.account(t, 10)
	const most = 1 << 20
	a.send(t, "application/json", plainFox+strings.Repeat(" ", most-len(plainFox))).is(t, http.StatusOK)
	a.send(t, "application/json", plainFox+strings.Repeat(" ", most+1-len(plainFox))).
		refused(t, http.StatusBadRequest, "invalid_request", "1048576")
}

func checkContentType(t *testing.T, s *service) {
	a := s.account(t, 10)
	for _, contentType := range []string{"application/json; charset=utf-8", "Application/JSON", `application/json;charset="UTF-8"`} {
		a.send(t, contentType, plainFox).is(t, http.StatusOK)
	}
	for _, contentType := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/jsonp", "json", "multipart/mixed; boundary=x"} {
		a.send(t, contentType, plainFox).refused(t, http.StatusBadRequest, "invalid_request", "Content-Type", contentType)
	}
	for _, contentType := range []string{"multipart/form-data", "multipart/form-data; boundary=", `multipart/form-data; boundary=""`} {
		a.send(t, contentType, plainFox).refused(t, http.StatusBadRequest, "invalid_request", "boundary")
	}
	same(t, a.credits(t), 7)
}
