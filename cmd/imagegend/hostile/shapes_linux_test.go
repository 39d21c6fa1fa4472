package hostile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Requests that are none, or more than one, are refused or taken for what they are: nothing is
// charged for, and the connection does not outlive what could not be understood.
func TestShapesOfRequests(t *testing.T) {
	h := open(t)
	fox := h.post("application/json", foxJSON)
	length := fmt.Sprintf("Content-Length: %d\r\n", len(foxJSON))
	typed := "Content-Type: application/json\r\n"
	for name, c := range map[string]struct {
		sent string
		wait int // for so many answers, before hanging up
		want []int
	}{
		"nothing": {"", 0, nil},
		"garbage": {"\x00\xff\x16\x03\x01 not HTTP\r\n\r\n", 1, []int{400}},
		"TLS": {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" +
			strings.Repeat("\x00", 600), 0, []int{400}},
		"HTTP/0.9": {"GET /api/v1/models\r\n\r\n", 1, []int{400}},
		"HTTP/2":   {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 1, []int{405}},
		"HTTP/9.9": {strings.Replace(fox, "HTTP/1.1", "HTTP/9.9", 1), 1, []int{505}},
		"HTTP/1.0 without a host": {"GET /api/v1/generations HTTP/1.0\r\nAuthorization: Bearer " + h.key +
			"\r\n\r\n", 1, []int{400}},
		"HTTP/1.0 in chunks": {strings.Replace(h.head(typed+"Transfer-Encoding: chunked\r\n"), "/1.1",
			"/1.0", 1) + chunked(foxJSON), 1, []int{400}},
		"no host": {strings.Replace(fox, "Host: x\r\n", "", 1), 1, []int{400}},
		"two hosts": {strings.Replace(fox, "Host: x\r\n", "Host: x\r\nHost: y\r\n", 1), 1,
			[]int{400}},
		"a host that is none": {strings.Replace(fox, "Host: x\r\n", "Host: x/y?z\r\n", 1), 1, []int{400}},
		"another host's address": {"GET http://evil.example/api/v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n", 1,
			[]int{404}},
		"CONNECT": {"CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: x\r\n\r\n", 1, []int{404}},
		"TRACE":   {"TRACE /api/v1/credits HTTP/1.1\r\nHost: x\r\n\r\n", 1, []int{405}},
		"a method of 64 KB": {strings.Repeat("A", 64<<10) + " / HTTP/1.1\r\nHost: x\r\n\r\n", 1,
			[]int{431}},
		"an address of 64 KB": {"GET /images/" + strings.Repeat("A", 64<<10) +
			" HTTP/1.1\r\nHost: x\r\n\r\n", 1, []int{431}},
		"a path to the database": {"GET /images/../imagegend.db HTTP/1.1\r\nHost: x\r\n\r\n", 1, []int{404}},
		"an encoded path": {"GET /images/%2e%2e%2fimagegend.db HTTP/1.1\r\nHost: x\r\n\r\n", 1,
			[]int{404}},
		"NUL in the path":             {"GET /images/a%00b HTTP/1.1\r\nHost: x\r\n\r\n", 1, []int{404}},
		"a bare NUL in the path":      {"GET /images/a\x00b HTTP/1.1\r\nHost: x\r\n\r\n", 1, []int{400}},
		"thousands of headers":        {h.head(strings.Repeat("A: b\r\n", 10_000)), 1, []int{431}},
		"a header of a megabyte":      {h.head("A: " + strings.Repeat("b", 1<<20) + "\r\n"), 1, []int{431}},
		"a header name of a megabyte": {h.head(strings.Repeat("b", 1<<20) + ": a\r\n"), 1, []int{431}},
		"a header with NUL":           {h.head("A: b\x00c\r\n" + typed + length), 1, []int{400}},
		"a header without a colon":    {h.head("Content-Length\r\n"), 1, []int{400}},
		"a space before the colon":    {h.head("Content-Length : 5\r\n"), 1, []int{400}},
		"a folded header": {
			h.head("Content-Type: application/json\r\n Transfer-Encoding: chunked\r\n"), 1, []int{400}},
		"two keys": {h.head("Authorization: Bearer other\r\n" + typed + length), 1, []int{401}},
		"two idempotency keys": {h.head("Idempotency-Key: a\r\nIdempotency-Key: b\r\n"+typed+length) +
			foxJSON, 1, []int{400}},
		"two lengths":          {h.head(typed+length+"Content-Length: 5\r\n") + foxJSON, 1, []int{400}},
		"a list of lengths":    {h.head(typed+"Content-Length: 5, 5\r\n") + foxJSON, 1, []int{400}},
		"a negative length":    {h.head(typed+"Content-Length: -5\r\n") + foxJSON, 1, []int{400}},
		"a length with a sign": {h.head(typed+"Content-Length: +5\r\n") + foxJSON, 1, []int{400}},
		"a hexadecimal length": {h.head(typed+"Content-Length: 0x5\r\n") + foxJSON, 1, []int{400}},
		"a length of 2^64": {h.head(typed+"Content-Length: 18446744073709551616\r\n") + foxJSON, 1,
			[]int{400}},
		"a length of 1 TB": {h.head("Content-Type: multipart/form-data; boundary=b\r\n"+
			"Content-Length: 1099511627776\r\n") + foxJSON, 1, []int{400}},
		"a length that is too long":  {h.head(typed+"Content-Length: 500\r\n") + foxJSON, 0, []int{400}},
		"a length that is too short": {h.head(typed+"Content-Length: 20\r\n") + foxJSON, 1, []int{400, 400}},
		"no length":                  {h.head(typed) + foxJSON, 1, []int{400, 400}},
		"another coding":             {h.head(typed+"Transfer-Encoding: gzip\r\n") + foxJSON, 1, []int{501}},
		"two codings": {h.head(typed+"Transfer-Encoding: gzip, chunked\r\n") + chunked(foxJSON), 1,
			[]int{501}},
		"chunked twice": {h.head(typed+
			"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") + chunked(foxJSON), 1, []int{501}},
		"chunked by another name": {h.head(typed+length+"Transfer-Encoding: xchunked\r\n") + foxJSON, 1,
			[]int{501}},
		"a chunk that is not a number": {h.head(typed+"Transfer-Encoding: chunked\r\n") + "zz\r\n" + foxJSON, 1,
			[]int{400}},
		"a chunk of 2^64": {h.head(typed+"Transfer-Encoding: chunked\r\n") + "10000000000000000\r\n" +
			foxJSON, 1, []int{400}},
		"a negative chunk": {h.head(typed+"Transfer-Encoding: chunked\r\n") + "-5\r\n" + foxJSON, 1,
			[]int{400}},
		"a chunk that is longer than said": {h.head(typed+"Transfer-Encoding: chunked\r\n") + "5\r\n" + foxJSON +
			"\r\n0\r\n\r\n", 1, []int{400}},
		"a chunk extension of a megabyte": {h.head(typed+"Transfer-Encoding: chunked\r\n") + "5;" +
			strings.Repeat("a", 1<<20) + "\r\n", 1, []int{400}},
		"no last chunk": {h.head(typed+"Transfer-Encoding: chunked\r\n") +
			strings.TrimSuffix(chunked(foxJSON), "0\r\n\r\n"), 0, []int{400}},
		"empty lines":    {strings.Repeat("\r\n", 100) + fox, 1, []int{400}},
		"an expectation": {h.head("Expect: miracles\r\n"+typed+length) + foxJSON, 1, []int{417}},
		"an upgrade": {
			"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n", 1, []int{200}},
		"a body on a GET": {"GET /healthz HTTP/1.1\r\nHost: x\r\n" + length + "\r\n" + foxJSON, 1,
			[]int{200}},
		"another origin": {strings.Replace(h.post("text/plain", foxJSON), "Host: x",
			"Host: x\r\nOrigin: http://evil.example", 1), 1, []int{400}},
		"many ranges": {"GET /api/v1/models HTTP/1.1\r\nHost: x\r\nRange: bytes=" +
			strings.Repeat("0-0,", 5000) + "1-1\r\n\r\n", 1, []int{200}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := h.say(c.sent, c.wait)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("the answers are %v, want %v; %v", got, c.want, err)
			}
			h.in(t).exact()
		})
	}
	h.unharmed()
}

// An attacker smuggles a request in what a proxy takes for a body. A request that is refused before its
// body was read takes its body with it.
func TestSmuggledRequests(t *testing.T) {
	h := open(t)
	fox := h.post("application/json", foxJSON)
	hidden := func(head string) string {
		return head + fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(fox)) + fox
	}
	for name, sent := range map[string]string{
		"behind a missing key":   hidden("POST " + generationsPath + " HTTP/1.1\r\nHost: x\r\n"),
		"behind a wrong address": hidden("POST /api/v1/nothing HTTP/1.1\r\nHost: x\r\n"),
		"behind a wrong method":  hidden("DELETE /api/v1/credits HTTP/1.1\r\nHost: x\r\n"),
		"behind a read":          hidden("GET /healthz HTTP/1.1\r\nHost: x\r\n"),
		"behind a query": hidden("POST " + generationsPath +
			"?a=b HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + h.key + "\r\n"),
		"behind malformed JSON": hidden(strings.TrimSuffix(h.head(""), "\r\n")),
		"in a chunk": h.head("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n") +
			chunked(fox),
		"in a trailer": h.head(
			"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nTrailer: Content-Length\r\n") +
			"1\r\n{\r\n0\r\nContent-Length: 400\r\n\r\n",
		"behind a short length": h.head("Content-Type: application/json\r\nContent-Length: 1\r\n") + "{" + "x" + fox,
		"behind a broken chunk": h.head("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n") +
			"1\r\n{xx\r\n0\r\n\r\n" + fox,
		"behind a header too long": strings.Replace(h.head(""), "\r\n\r\n", "\r\nA: "+strings.Repeat("a", 64<<10)+
			"\r\n\r\n", 1) + fox,
	} {
		t.Run(name, func(t *testing.T) {
			answers, err := h.say(sent, 1)
			if err != nil || len(answers) == 0 || slices.ContainsFunc(answers[1:], func(status int) bool {
				return status/100 == 2
			}) {
				t.Errorf("the answers are %v; %v", answers, err)
			}
			h.in(t).exact()
		})
	}
	h.unharmed()
}

// Where a request has a length and chunks, the chunks count, and what follows on the connection is
// never served: it may be what another party took for the body.
func TestLengthAndChunks(t *testing.T) {
	h := open(t)
	fox := h.post("application/json", foxJSON)
	for name, fields := range map[string]string{
		"length first":        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
		"chunks first":        "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
		"a length of nothing": "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
		"a length of all": fmt.Sprintf("Transfer-Encoding: chunked\r\nContent-Length: %d\r\n",
			len("0\r\n\r\n"+fox)),
	} {
		t.Run(name, func(t *testing.T) {
			answers, err := h.say(h.head("Content-Type: application/json\r\n"+fields)+"0\r\n\r\n"+fox, 2)
			if err != nil || !slices.Equal(answers, []int{400}) {
				t.Errorf("the answers are %v; %v", answers, err)
			}
			h.in(t).exact()
		})
	}
	h.unharmed()
}

// Requests that do not wait for answers get one each, in their order, and are charged one by one.
func TestPipelining(t *testing.T) {
	const pairs = 50
	h := open(t)
	refused := h.post("application/json", `{"model":"fake-1","prompt":"a fox","cfg_scale":1}`)
	answers, err := h.say(strings.Repeat(h.post("application/json", foxJSON)+refused, pairs), 2*pairs)
	if err != nil || !slices.Equal(answers, slices.Repeat([]int{200, 400}, pairs)) {
		t.Errorf("the answers are %v; %v", answers, err)
	}
	h.spent += pairs
	h.unharmed()
}

// An old client is served as any other.
func TestHTTP10(t *testing.T) {
	h := open(t)
	answers, err := h.say(strings.Replace(h.post("application/json", foxJSON), "HTTP/1.1", "HTTP/1.0", 1), 1)
	if err != nil || !slices.Equal(answers, []int{200}) {
		t.Errorf("the answers are %v; %v", answers, err)
	}
	h.spent++
	h.unharmed()
}
