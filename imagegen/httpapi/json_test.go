package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
)

// Section 1 of the contract, by JSON: what is refused, and the words that must stand in the message.
func TestJSONRefusals(t *testing.T) {
	s := serve(t, httpapi.Options{})
	for name, c := range map[string]struct{ body, says string }{
		"no model":            {`{"prompt":"a fox"}`, "model is required"},
		"null model":          {`{"model":null,"prompt":"a fox"}`, "model is required"},
		"unknown model":       {`{"model":"fake-2","prompt":"a fox"}`, `"fake-2"; offered: fake-1`},
		"model in other case": {`{"model":"FAKE-1","prompt":"a fox"}`, `"FAKE-1"; offered: fake-1`},
		"model a number":      {`{"model":1,"prompt":"a fox"}`, "model must be a string; got a number"},
		"no prompt":           {`{"model":"fake-1"}`, "prompt is required"},
		"null prompt":         {`{"model":"fake-1","prompt":null}`, "prompt is required"},
		"blank prompt":        {`{"model":"fake-1","prompt":" \t\n "}`, "prompt is required"},
		"blank in other ways": {`{"model":"fake-1","prompt":"\u00a0\u2003"}`, "prompt is required"},
		"prompt empty":        {`{"model":"fake-1","prompt":""}`, "prompt is required"},
		"prompt too long": {`{"model":"fake-1","prompt":"` + strings.Repeat("é", 32001) + `"}`,
			"32001 characters; the limit is 32000"},
		"a prompt of wide letters too long": {`{"model":"fake-1","prompt":"` + strings.Repeat("🦊", 32001) + `"}`,
			"32001 characters; the limit is 32000"},
		"prompt a number": {`{"model":"fake-1","prompt":7}`, "prompt must be a string; got a number"},
		"prompt an array": {`{"model":"fake-1","prompt":["a fox"]}`,
			"prompt must be a string; got an object or array"},
		"model a boolean": {`{"model":true,"prompt":"a fox"}`, "model must be a string"},
		"size empty":      {fox(`,"size":""`), "twice"},
		"size empty alone": {`{"model":"fake-1","prompt":"a fox","size":""}`,
			"size must be auto or WIDTHxHEIGHT"},
		"size a number":       {`{"model":"fake-1","prompt":"a fox","size":64}`, "size must be a string"},
		"quality empty":       {fox(`,"quality":""`), "auto, low, medium, high"},
		"quality unknown":     {fox(`,"quality":"hd"`), `auto, low, medium, high; got "hd"`},
		"quality in capitals": {fox(`,"quality":"High"`), `got "High"`},
		"quality a tier":      {fox(`,"quality":"1K"`), `got "1K"`},
		"quality a boolean":   {fox(`,"quality":true`), "quality must be a string"},
		"n zero":              {fox(`,"n":0`), "n must be from 1 to 4; got 0"},
		"n minus zero":        {fox(`,"n":-0`), "n must be from 1 to 4"},
		"n negative":          {fox(`,"n":-1`), "n must be from 1 to 4; got -1"},
		"n five":              {fox(`,"n":5`), "n must be from 1 to 4; got 5"},
		"n huge":              {fox(`,"n":99999999999999999999`), "n must be from 1 to 4"},
		"n a string":          {fox(`,"n":"2"`), "n must be a number; got a string"},
		"n a fraction":        {fox(`,"n":1.5`), `n must be an integer, such as 2; got "1.5"`},
		"n with a point":      {fox(`,"n":1.0`), "n must be an integer"},
		"n with an exponent":  {fox(`,"n":1e0`), "n must be an integer"},
		"n true":              {fox(`,"n":true`), "n must be a number"},
		"n far too large":     {fox(`,"n":1e30`), "n must be an integer"},
		"n an array":          {fox(`,"n":[2]`), "n must be a number; got an object or array"},
		"async an object":     {fox(`,"async":{}`), "async must be true or false"},
		"async a string":      {fox(`,"async":"true"`), "async must be true or false; got a string"},
		"async a number":      {fox(`,"async":1`), "async must be true or false; got a number"},
		"user a number":       {fox(`,"user":7`), "user must be a string"},
		"response_format b64_json": {fox(`,"response_format":"b64_json"`),
			`must be "url": images are answered as addresses; got "b64_json"`},
		"aspect_ratio": {fox(`,"aspect_ratio":"1:1"`),
			`unknown field "aspect_ratio"; the nearest known one is size`},
		"seed":   {fox(`,"cfg_scale":7`), `unknown field "cfg_scale"`},
		"stream": {fox(`,"stream":true`), `unknown field "stream"`},
		"a field that has no equal": {fox(`,"steps":30`),
			`unknown field "steps"; known are reference_image, mask, model,`},
		"a reference with a number": {fox(`,"image[0]":"x"`),
			`unknown field "image[0]"; the nearest known one is reference_image`},
		"an unknown null":      {fox(`,"loras":null`), `unknown field "loras"`},
		"a misspelt name":      {fox(`,"qualty":"low"`), "the nearest known one is quality"},
		"a name in other case": {fox(`,"N":2`), `unknown field "N"; the nearest known one is n`},
		"a required name in other case": {`{"model":"fake-1","PROMPT":"a fox"}`,
			`unknown field "PROMPT"; the nearest known one is prompt`},
		"a letter is missing":       {fox(`,"promt":"x"`), "the nearest known one is prompt"},
		"a letter too many":         {fox(`,"sizes":"x"`), "the nearest known one is size"},
		"an empty name":             {fox(`,"":2`), `unknown field ""`},
		"an unknown object":         {fox(`,"extra_body":{"n":2}`), `unknown field "extra_body"`},
		"a reference":               {fox(`,"reference_image":"https://x/y.png"`), "multipart/form-data"},
		"references":                {fox(`,"image[]":["x"]`), "multipart/form-data"},
		"a name twice":              {fox(`,"prompt":"a wolf"`), "prompt was sent twice"},
		"a value twice, an escape":  {fox(`,"n":1,"\u006e":1`), "n was sent twice"},
		"a name twice, null":        {fox(`,"n":null,"n":2`), "n was sent twice"},
		"a reference twice, null":   {fox(`,"image":null,"image":null`), "image was sent twice"},
		"a name twice, escaped":     {fox(`,"\u006eo":1`), `unknown field "no"`},
		"empty":                     {" ", "malformed at byte 1"},
		"nothing":                   {"", "the request body is empty; send a JSON object"},
		"an object in an array":     {"[" + fox("") + "]", "expected an object"},
		"a comma after":             {fox("") + ",", "nothing after the object"},
		"a NUL after":               {fox("") + "\x00", "nothing after the object"},
		"an array":                  {`[]`, "expected an object"},
		"a string":                  {`"a fox"`, "expected an object"},
		"a number":                  {"1", "expected an object"},
		"a bare text":               {"a fox", "expected an object"},
		"a brace":                   {"{", "malformed"},
		"null":                      {`null`, "expected an object"},
		"two objects":               {fox("") + fox(""), "nothing after the object"},
		"text after":                {fox("") + "x", "nothing after the object"},
		"cut short":                 {`{"model":"fake-1","prompt":"a fox"`, "a comma or the end"},
		"cut in a string":           {`{"model":"fake-1","prompt":"a fo`, "the end of a string"},
		"cut in an escape":          {`{"model":"fake-1","prompt":"a fo\`, "escape"},
		"a comma too many":          {`{"model":"fake-1","prompt":"a fox",}`, "a name in quotes"},
		"a comma too few":           {`{"model":"fake-1" "prompt":"a fox"}`, "a comma"},
		"a comma first":             {`{,"model":"fake-1"}`, "a name in quotes"},
		"no colon":                  {`{"model" "fake-1"}`, "a colon"},
		"no value":                  {`{"model":}`, "a value"},
		"a bare word":               {fox(`,"n":two`), "a value"},
		"a number with a zero":      {fox(`,"n":02`), "a value"},
		"a number with a plus":      {fox(`,"n":+2`), "a value"},
		"NaN":                       {fox(`,"n":NaN`), "a value"},
		"single quotes":             {`{'model':'fake-1'}`, "a name in quotes"},
		"a comment":                 {`{"model":"fake-1",/* */"prompt":"a fox"}`, "a name in quotes"},
		"a byte order mark":         {"\ufeff" + fox(""), "begins with a byte order mark; send it without one"},
		"no UTF-8":                  {"{\"model\":\"fake-1\",\"prompt\":\"a fo\xff\"}", "not valid UTF-8"},
		"half a surrogate pair":     {`{"model":"fake-1","prompt":"a \ud83e fox"}`, "escape"},
		"the other half":            {`{"model":"fake-1","prompt":"a \udd8a fox"}`, "escape"},
		"a pair the wrong way":      {`{"model":"fake-1","prompt":"\udd8a\ud83e"}`, "escape"},
		"an unknown escape":         {`{"model":"fake-1","prompt":"\x41"}`, "escape"},
		"a short escape":            {`{"model":"fake-1","prompt":"\u00"}`, "escape"},
		"a line break in a string":  {"{\"model\":\"fake-1\",\"prompt\":\"a\nfox\"}", "control character"},
		"a NUL in a string":         {"{\"model\":\"fake-1\",\"prompt\":\"a\x00fox\"}", "control character"},
		"a control after an escape": {"{\"model\":\"fake-1\",\"prompt\":\"\\n\x01\"}", "control character"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			message := s.refused(s.post(c.body), http.StatusBadRequest, imagegen.CodeInvalidRequest)
			if !strings.Contains(message, c.says) {
				t.Errorf("got %q; want %q in it", message, c.says)
			}
			is.True(len(message) < 600) // what was sent is not repeated at length
		})
	}
	s.untouched()
}

func TestJSONAccepted(t *testing.T) {
	s := serve(t, httpapi.Options{})
	for name, c := range map[string]struct{ body, prompt string }{
		"null is absent": {`{"model":"fake-1","prompt":"[fake:images=1] a fox","size":"32x32","quality":null,"n":null,"async":null,"user":null,"response_format":null,` +
			`"reference_image":null,"reference_image[]":null,"image":null,"image[]":null}`,
			"[fake:images=1] a fox"},
		"white space": {" \r\n\t{ \"model\" : \"fake-1\" ,\n\"prompt\":\"a fox\",\"size\":\"32x32\" } \n", "a fox"},
		"escapes": {`{"mod\u0065l":"fake-1","prompt":"\"\\\/\b\f\n\r\t\u00e9\uD83E\udd8a\u0000","size":"32x32"}`,
			"\"\\/\b\f\n\r\té🦊\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			g := s.accepted(s.post(c.body), http.StatusOK)
			is.Equal(g.Prompt, c.prompt)
			is.Equal(g.N, 1)
			is.Equal(g.Size, "32x32")
			is.Equal(g.RequestedQuality, "auto")
		})
	}
}

func TestJSONBodyIsAtMostOneMiB(t *testing.T) {
	s := serve(t, httpapi.Options{})
	body := fox(`,"user":"`)
	body = body[:len(body)-1]
	fit := func(n int) string { return body + strings.Repeat("x", n-len(body)-2) + `"}` }
	s.accepted(s.post(fit(1<<20)), http.StatusOK)
	s.is.True(strings.Contains(s.refused(s.post(fit(1<<20+1)), 400, imagegen.CodeInvalidRequest), "1048576 bytes"))

	// its length is not known beforehand
	r := s.request(http.MethodPost, generations, struct{ *strings.Reader }{strings.NewReader(fit(3 << 20))})
	s.is.True(strings.Contains(s.refused(s.send(r), 400, imagegen.CodeInvalidRequest), "1048576 bytes"))
}

func TestContentType(t *testing.T) {
	s := serve(t, httpapi.Options{})
	for _, contentType := range []string{"application/json", "Application/JSON; charset=utf-8", "application/json;;",
		`application/json;charset="UTF-8"`} {
		s.accepted(s.post(fox(""), "Content-Type", contentType), http.StatusOK)
	}
	for _, contentType := range []string{"-", "text/plain", "application/x-www-form-urlencoded", "application/json+x",
		"application/jsonp", "json", "multipart/form-data", "multipart/form-data; boundary=",
		`multipart/form-data; boundary=""`, "multipart/mixed; boundary=x", "multipart/form-data; boundary"} {
		message := s.refused(s.post(fox(""), "Content-Type", contentType), http.StatusBadRequest,
			imagegen.CodeInvalidRequest)
		s.is.True(strings.Contains(message, "Content-Type") || strings.Contains(message, "boundary"))
	}
}
