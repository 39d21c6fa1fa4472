package provider_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
)

const ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

// faultyAnswer is a connection whose last request gets no good answer.
type faultyAnswer struct {
	net.Conn
	body     []byte // of the good answer
	stranger string // an address that nobody may go to
	enough   func() // notes that much has been sent, or as much as the client wants
}

// upstreamFault is done to a request.
type upstreamFault struct {
	do   func(v *faultyAnswer)
	kind kind
}

type kind int

const (
	short   kind = iota
	endless      // it goes on until the client leaves, which it does when its call is cancelled, if not before
	mild         // a picture may have come whole
	flood        // endless, and cancelled only once much has been sent
)

var upstreamFaults = map[string]upstreamFault{
	"says nothing": {(*faultyAnswer).wait, endless},
	"answers when nobody waits": {func(v *faultyAnswer) { v.wait(); v.say(ok + "Content-Length: 2\r\n\r\n{}") },
		endless},
	"hangs up":                      {func(*faultyAnswer) {}, short},
	"resets the connection":         {func(v *faultyAnswer) { v.Conn.(*net.TCPConn).SetLinger(0) }, short},
	"hangs up within its header":    {func(v *faultyAnswer) { v.say(ok) }, short},
	"hangs up within its answer":    {func(v *faultyAnswer) { v.answer("", v.body, len(v.body)/2) }, short},
	"hangs up before the last byte": {func(v *faultyAnswer) { v.answer("", v.body, len(v.body)-1) }, mild},
	"stops within its answer":       {func(v *faultyAnswer) { v.answer("", v.body, len(v.body)/2); v.wait() }, endless},
	"sends a byte now and then":     {func(v *faultyAnswer) { v.say(ok + "\r\n"); v.drip(v.body) }, endless},
	"sends its header byte by byte": {func(v *faultyAnswer) { v.drip([]byte(ok)) }, endless},
	"sends headers without end":     {func(v *faultyAnswer) { v.say(ok); v.repeat("A: b\r\n") }, short},
	"sends a header without end":    {func(v *faultyAnswer) { v.say(ok + "A: "); v.repeat("bbbbbbbb") }, short},
	"sends early hints without end": {func(v *faultyAnswer) {
		v.repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
	}, short},
	"says continue without end": {func(v *faultyAnswer) { v.repeat("HTTP/1.1 100 Continue\r\n\r\n") }, short},
	"switches protocols": {func(v *faultyAnswer) {
		v.say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
		v.wait()
	}, endless},
	"is not HTTP":              {func(v *faultyAnswer) { v.say("SSH-2.0-OpenSSH_9.9\r\n\r\n") }, short},
	"is not HTTP, without end": {func(v *faultyAnswer) { v.repeat("SSH-2.0-OpenSSH_9.9 ") }, short},
	"is another HTTP": {func(v *faultyAnswer) { v.say("HTTP/9.9 200 OK\r\nContent-Length: 2\r\n\r\n{}") },
		short},
	"sends garbage for chunks": {func(v *faultyAnswer) {
		v.say(ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n")
	}, short},
	"sends a chunk of 2^64 bytes": {func(v *faultyAnswer) {
		v.say(ok + "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n{}\r\n")
	}, short},
	"sends no last chunk": {func(v *faultyAnswer) {
		v.say(ok + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(v.body), v.body))
	}, mild},
	"sends two lengths": {func(v *faultyAnswer) {
		v.say(ok + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ")
	}, short},
	"sends half a gzip": {func(v *faultyAnswer) {
		v.answer("Content-Encoding: gzip\r\n", half(zip(v.body)), -1)
	}, short},
	"sends a gzip that is none": {func(v *faultyAnswer) { v.answer("Content-Encoding: gzip\r\n", v.body, -1) },
		short},
	"sends a page": {func(v *faultyAnswer) {
		v.answer("Content-Type: text/html\r\n", []byte("<html><h1>It works!</h1>"), -1)
	}, short},
	"sends nothing":         {func(v *faultyAnswer) { v.answer("", nil, -1) }, short},
	"sends no content":      {func(v *faultyAnswer) { v.say("HTTP/1.1 204 No Content\r\n\r\n") }, short},
	"sends null":            {func(v *faultyAnswer) { v.answer("", []byte("null"), -1) }, short},
	"sends an empty object": {func(v *faultyAnswer) { v.answer("", []byte("{}"), -1) }, short},
	"sends a list": {func(v *faultyAnswer) { v.answer("", []byte(`[{"data":1,"images":{}}]`), -1) },
		short},
	"sends other types": {func(v *faultyAnswer) {
		v.answer("", types.ReplaceAll(v.body, []byte(`:{"a":[0]}`)), -1)
	}, mild},
	"redirects to itself": {func(v *faultyAnswer) {
		v.redirect("http://" + v.LocalAddr().String() + "/again")
	}, short},
	"redirects to a stranger": {func(v *faultyAnswer) { v.redirect(v.stranger) }, short},
	"redirects to the cloud": {func(v *faultyAnswer) { v.redirect("http://169.254.169.254/latest/meta-data") },
		short},
	"redirects to a file":           {func(v *faultyAnswer) { v.redirect("file:///etc/passwd") }, short},
	"says that nothing has changed": {func(v *faultyAnswer) { v.say("HTTP/1.1 304 Not Modified\r\n\r\n") }, short},
	"sends a huge picture":          {func(v *faultyAnswer) { v.picture() }, mild},
	"sends too many": {func(v *faultyAnswer) {
		v.answer("", lists.ReplaceAll(v.body, []byte("[$1,$1,$1]")), -1)
	}, mild},
	"sends too few": {func(v *faultyAnswer) {
		v.answer("", lists.ReplaceAll(v.body, []byte("[]")), -1)
	}, mild},
	"says sorry at the end": {func(v *faultyAnswer) {
		v.answer("", sorry.ReplaceAll(v.body, []byte(`,"error":{"message":"sorry"}}`)), -1)
	}, mild},
	"sends a page of errors, endless": {func(v *faultyAnswer) {
		v.say("HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\n\r\n")
		v.repeat("<p>sorry</p>")
	}, short},
}

func (v *faultyAnswer) say(s string) { io.WriteString(v.Conn, s) } // an error: the client has left

// answer sends at most so many bytes of a body, -1 for all, and the length of all.
func (v *faultyAnswer) answer(header string, body []byte, most int) {
	if most < 0 {
		most = len(body)
	}
	if !strings.Contains(header, "Content-Type") {
		header += "Content-Type: application/json\r\n"
	}
	v.say(fmt.Sprintf("HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s", header, len(body), body[:max(0, most)]))
}

// wait returns when the client has left.
func (v *faultyAnswer) wait() { io.Copy(io.Discard, v.Conn) }

func (v *faultyAnswer) drip(b []byte) {
	for i := 0; ; i++ {
		if _, err := v.Write(b[i%len(b) : i%len(b)+1]); err != nil {
			return
		}
		time.Sleep(20 * time.Millisecond) // it is what makes it slow
	}
}

// much is how many bytes a flood has sent when it is let go, if the client has not left before.
const much = 64 << 20

// repeat sends the same until the client leaves.
func (v *faultyAnswer) repeat(s string) {
	defer v.enough()
	block := []byte(strings.Repeat(s, 64<<10/len(s)))
	for sent := 0; ; sent += len(block) {
		if _, err := v.Write(block); err != nil {
			return
		}
		if sent >= much {
			v.enough()
		}
	}
}

func (v *faultyAnswer) redirect(to string) {
	v.say("HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\nLocation: " + to + "\r\n\r\n")
}

func half(b []byte) []byte { return b[:len(b)/2] }

func zip(b []byte) []byte {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write(b) // a buffer takes all
	w.Close()
	return z.Bytes()
}

// huge is a picture that claims 100,000 × 100,000 pixels.
var huge = claim(upstreamtest.PNG(16, 16), 100_000)

func claim(png []byte, edge uint32) []byte {
	const size, sum = 16, 29 // offsets in the file
	binary.BigEndian.PutUint32(png[size:], edge)
	binary.BigEndian.PutUint32(png[size+4:], edge)
	binary.BigEndian.PutUint32(png[sum:], crc32.ChecksumIEEE(png[size-4:sum]))
	return png
}

// In JSON: the values that are strings, the lists, and the last bracket.
var (
	types = regexp.MustCompile(`:\s*"[^"]*"`)
	lists = regexp.MustCompile(`\[([^\[\]]*)\]`)
	sorry = regexp.MustCompile(`\}\s*$`)
	inner = regexp.MustCompile(`"iVBOR[^"]*"`)
)

// picture answers with a huge picture, declared as what the good answer was.
func (v *faultyAnswer) picture() {
	header := ""
	if bytes.HasPrefix(v.body, huge[:8]) {
		header = "Content-Type: image/png\r\n"
	}
	v.answer(header, v.pictured(huge), -1)
}

// pictured is the good answer with another picture, if it has one: bare, or in base64.
func (v *faultyAnswer) pictured(png []byte) []byte {
	if bytes.HasPrefix(v.body, png[:8]) {
		return png
	}
	return inner.ReplaceAll(v.body, []byte(`"`+base64.StdEncoding.EncodeToString(png)+`"`))
}
