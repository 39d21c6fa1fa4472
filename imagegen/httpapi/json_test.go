package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/matryer/is"
)

// Section 1 of the contract, by JSON: what is refused, and the words that must stand in the message.
func TestJSONRefusals(t *testing.T) {
	s := serve(t, httpapi.Options{})
	for name, c := range map[string]struct{ body, says string }{
		"no model":                  {`{"prompt":"a fox"}`, "model is required"},
		"null model":                {`{"model":null,"prompt":"a fox"}`, "model is required"},
		"unknown model":             {`{"model":"fake-2","prompt":"a fox"}`, "fake-1"},
		"no prompt":                 {`{"model":"fake-1"}`, "prompt is required"},
		"null prompt":               {`{"model":"fake-1","prompt":null}`, "prompt is required"},
		"blank prompt":              {`{"model":"fake-1","prompt":" \t\n "}`, "prompt is required"},
		"prompt too long":           {`{"model":"fake-1","prompt":"` + strings.Repeat("é", 32001) + `"}`, "32000"},
		"prompt a number":           {`{"model":"fake-1","prompt":7}`, "prompt must be a string; got a number"},
		"prompt an array":           {`{"model":"fake-1","prompt":["a fox"]}`, "prompt must be a string; got an object or array"},
		"model a boolean":           {`{"model":true,"prompt":"a fox"}`, "model must be a string"},
		"size empty":                {fox(`,"size":""`), "twice"},
		"size empty alone":          {`{"model":"fake-1","prompt":"a fox","size":""}`, "size must be auto or WIDTHxHEIGHT"},
		"size with a sign":          {`{"model":"fake-1","prompt":"a fox","size":"+64x64"}`, "size must be"},
		"size with a leading zero":  {`{"model":"fake-1","prompt":"a fox","size":"064x64"}`, "size must be"},
		"size with a capital X":     {`{"model":"fake-1","prompt":"a fox","size":"64X64"}`, "size must be"},
		"size too small":            {`{"model":"fake-1","prompt":"a fox","size":"15x16"}`, "16 to 8192"},
		"size too large":            {`{"model":"fake-1","prompt":"a fox","size":"8192x8193"}`, "16 to 8192"},
		"size too wide":             {`{"model":"fake-1","prompt":"a fox","size":"304x100"}`, "nearest ratio is 3:1"},
		"size a number":             {`{"model":"fake-1","prompt":"a fox","size":64}`, "size must be a string"},
		"quality empty":             {fox(`,"quality":""`), "auto, low, medium, high"},
		"quality unknown":           {fox(`,"quality":"hd"`), "auto, low, medium, high"},
		"quality in capitals":       {fox(`,"quality":"High"`), "auto, low, medium, high"},
		"n zero":                    {fox(`,"n":0`), "n must be from 1 to 4"},
		"n minus zero":              {fox(`,"n":-0`), "n must be from 1 to 4"},
		"n negative":                {fox(`,"n":-1`), "n must be from 1 to 4"},
		"n five":                    {fox(`,"n":5`), "n must be from 1 to 4"},
		"n huge":                    {fox(`,"n":99999999999999999999`), "n must be from 1 to 4"},
		"n a string":                {fox(`,"n":"2"`), "n must be a number; got a string"},
		"n a fraction":              {fox(`,"n":1.5`), "n must be an integer"},
		"n with a point":            {fox(`,"n":1.0`), "n must be an integer"},
		"n with an exponent":        {fox(`,"n":1e0`), "n must be an integer"},
		"n true":                    {fox(`,"n":true`), "n must be a number"},
		"async a string":            {fox(`,"async":"true"`), "async must be true or false; got a string"},
		"async a number":            {fox(`,"async":1`), "async must be true or false; got a number"},
		"user a number":             {fox(`,"user":7`), "user must be a string"},
		"response_format b64_json":  {fox(`,"response_format":"b64_json"`), `must be "url"`},
		"aspect_ratio":              {fox(`,"aspect_ratio":"1:1"`), `unknown field "aspect_ratio"; the nearest known one is size`},
		"seed":                      {fox(`,"seed":7`), `unknown field "seed"`},
		"stream":                    {fox(`,"stream":true`), `unknown field "stream"`},
		"an unknown null":           {fox(`,"mask":null`), `unknown field "mask"`},
		"a misspelt name":           {fox(`,"qualty":"low"`), "the nearest known one is quality"},
		"a name in other case":      {fox(`,"N":2`), `unknown field "N"; the nearest known one is n`},
		"an empty name":             {fox(`,"":2`), `unknown field ""`},
		"an unknown object":         {fox(`,"extra_body":{"n":2}`), `unknown field "extra_body"`},
		"a reference":               {fox(`,"reference_image":"https://x/y.png"`), "multipart/form-data"},
		"references":                {fox(`,"image[]":["x"]`), "multipart/form-data"},
		"a name twice":              {fox(`,"prompt":"a wolf"`), "prompt was sent twice"},
		"a name twice, null":        {fox(`,"n":null,"n":2`), "n was sent twice"},
		"a reference twice, null":   {fox(`,"image":null,"image":null`), "image was sent twice"},
		"a name twice, escaped":     {fox(`,"\u006eo":1`), `unknown field "no"`},
		"empty":                     {" ", "malformed at byte 1"},
		"an array":                  {`[]`, "expected an object"},
		"a string":                  {`"a fox"`, "expected an object"},
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
		"a byte order mark":         {"\ufeff" + fox(""), "expected an object"},
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
	for name, c := range map[string]struct {
		body string
		want generation
	}{
		"null is absent": {`{"model":"fake-1","prompt":"[fake:images=1] a fox","size":"32x32","quality":null,"n":null,"async":null,"user":null,"response_format":null,` +
			`"reference_image":null,"reference_image[]":null,"image":null,"image[]":null}`,
			generation{N: 1, Prompt: "[fake:images=1] a fox", RequestedQuality: "auto"}},
		"without effect":   {`{"model":"fake-1","prompt":"a fox","size":"32x32","user":"u1","response_format":"url"}`, generation{N: 1, Prompt: "a fox", RequestedQuality: "auto"}},
		"all of it":        {`{"model":"fake-1","prompt":"a fox","size":"32x32","quality":"high","n":2,"async":false}`, generation{N: 2, Prompt: "a fox", RequestedQuality: "high"}},
		"white space":      {" \r\n\t{ \"model\" : \"fake-1\" ,\n\"prompt\":\"a fox\",\"size\":\"32x32\" } \n", generation{N: 1, Prompt: "a fox", RequestedQuality: "auto"}},
		"escapes":          {`{"mod\u0065l":"fake-1","prompt":"\"\\\/\b\f\n\r\t\u00e9\uD83E\udd8a\u0000","size":"32x32"}`, generation{N: 1, Prompt: "\"\\/\b\f\n\r\té🦊\x00", RequestedQuality: "auto"}},
		"a prompt at most": {`{"model":"fake-1","prompt":"` + strings.Repeat("é", 32000) + `","size":"32x32"}`, generation{N: 1, Prompt: strings.Repeat("é", 32000), RequestedQuality: "auto"}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			g := s.accepted(s.post(c.body), http.StatusOK)
			is.Equal(g.Prompt, c.want.Prompt)
			is.Equal(g.N, c.want.N)
			is.Equal(g.Size, "32x32")
			is.Equal(g.RequestedQuality, c.want.RequestedQuality)
		})
	}
}

func TestDefaults(t *testing.T) {
	s := serve(t, httpapi.Options{})
	g := s.accepted(s.post(`{"model":"fake-1","prompt":"a fox"}`), http.StatusOK)
	s.is.Equal(g.N, 1)
	s.is.Equal(g.Size, "auto")
	s.is.Equal(g.RequestedQuality, "auto")
	s.is.Equal(g.AspectRatio, "auto")
	s.is.Equal(g.Quality, "1K")
	s.is.Equal(g.Status, "succeeded") // not asynchronous
	s.is.Equal(len(g.Images), 1)
}

func TestJSONBodyIsAtMostOneMiB(t *testing.T) {
	s := serve(t, httpapi.Options{})
	body := fox(`,"user":"`)
	body = body[:len(body)-1]
	fit := func(n int) string { return body + strings.Repeat("x", n-len(body)-2) + `"}` }
	s.accepted(s.post(fit(1<<20)), http.StatusOK)
	s.is.True(strings.Contains(s.refused(s.post(fit(1<<20+1)), 400, imagegen.CodeInvalidRequest), "1048576 bytes"))

	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.server.URL+generations, struct{ *strings.Reader }{strings.NewReader(fit(3 << 20))})
	s.is.NoErr(err) // its length is not told beforehand
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	s.is.True(strings.Contains(s.refused(s.send(r), 400, imagegen.CodeInvalidRequest), "1048576 bytes"))
}

func TestContentType(t *testing.T) {
	s := serve(t, httpapi.Options{})
	for _, contentType := range []string{"application/json", "Application/JSON; charset=utf-8", "application/json;;"} {
		s.accepted(s.post(fox(""), "Content-Type", contentType), http.StatusOK)
	}
	for _, contentType := range []string{"-", "text/plain", "application/x-www-form-urlencoded", "application/json+x", "json",
		"multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=x", "multipart/form-data; boundary"} {
		s.refused(s.post(fox(""), "Content-Type", contentType), http.StatusBadRequest, imagegen.CodeInvalidRequest)
	}
}

func TestFieldsBelongInTheBody(t *testing.T) {
	s := serve(t, httpapi.Options{})
	s.refused(s.do(http.MethodPost, generations+"?n=4", fox("")), http.StatusBadRequest, imagegen.CodeInvalidRequest)
	s.untouched()
}
