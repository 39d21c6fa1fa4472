package s3test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Fault is what happens to a call on its way to the object store.
type Fault int

const (
	// Passed: nothing happens to it.
	Passed Fault = iota
	// Refused: the answer is 403, and nothing was carried out.
	Refused
	// Failed: the answer is 500, and nothing was carried out.
	Failed
	// CutRequest: the connection breaks after half of the request's content, and nothing was carried out.
	CutRequest
	// CutAnswer: the call was carried out, and the connection breaks after half of the answer's content.
	CutAnswer
	// Unanswered: the call was carried out, and the connection breaks before the answer.
	Unanswered
	// Silent: nothing is carried out or answered, until the client gives up.
	Silent
)

// Proxy lies between a client and an object store. It numbers the calls and disturbs those that a test chooses. It
// signs each call anew, so that the client may believe in whatever time the answers name.
type Proxy struct {
	URL string // the endpoint for the client

	mu    sync.Mutex // guards what follows
	calls int
	fault func(n int, r *http.Request) Fault
	late  func(answer http.Header, list []byte) []byte
}

// Between starts a proxy before a server. It ends with the test.
func Between(tb testing.TB, server *Server) *Proxy {
	tb.Helper()
	to, err := url.Parse(server.URL)
	if err != nil {
		tb.Fatal(err)
	}
	p := new(Proxy)
	forward := httputil.NewSingleHostReverseProxy(to)
	forward.ModifyResponse = p.misdate
	forward.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch p.next(r) {
		case Refused:
			w.WriteHeader(http.StatusForbidden)
		case Failed:
			w.WriteHeader(http.StatusInternalServerError)
		case Silent:
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		case CutRequest:
			_, _ = io.CopyN(io.Discard, r.Body, max(r.ContentLength, 0)/2)
			panic(http.ErrAbortHandler)
		case CutAnswer:
			sendHalf(w, carryOut(forward, r))
			panic(http.ErrAbortHandler)
		case Unanswered:
			carryOut(forward, r)
			panic(http.ErrAbortHandler)
		default:
			sign(r)
			forward.ServeHTTP(w, r)
		}
	}))
	tb.Cleanup(s.Close)
	p.URL = s.URL
	return p
}

// carryOut has the object store do what a call asks for, and keeps the answer.
func carryOut(forward http.Handler, r *http.Request) *httptest.ResponseRecorder {
	sign(r)
	answer := httptest.NewRecorder()
	forward.ServeHTTP(answer, r)
	return answer
}

// sendHalf sends half of an answer that promises all of it.
func sendHalf(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	content := answer.Body.Bytes()
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(answer.Code)
	_, _ = w.Write(content[:len(content)/2])
	_ = http.NewResponseController(w).Flush()
}

// sign signs a call as of now, in the place of the client.
func sign(r *http.Request) {
	r.Header.Del("Authorization")
	credentials := aws.Credentials{AccessKeyID: AccessKey, SecretAccessKey: SecretKey}
	_ = v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }).
		SignHTTP(r.Context(), credentials, r, r.Header.Get("X-Amz-Content-Sha256"), "s3", "us-east-1", time.Now())
}

// Disturb has fault choose what happens to each call from now on. Calls are numbered from 1.
func (p *Proxy) Disturb(fault func(n int, r *http.Request) Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls, p.fault = 0, fault
}

// Calls is how many calls came since Disturb.
func (p *Proxy) Calls() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls
}

func (p *Proxy) next(r *http.Request) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if p.fault == nil {
		return Passed
	}
	return p.fault(p.calls, r)
}

// Misdate has the answers say that the object store's clock is ahead by so much, and that its objects were changed that
// much later than they were. Below 0, the clock is behind, or the objects are older. With dated false the answers name
// no time.
func (p *Proxy) Misdate(clock, objects time.Duration, dated bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late = func(answer http.Header, list []byte) []byte {
		if !dated {
			answer.Set("Date", "unknown")
		} else if at, err := http.ParseTime(answer.Get("Date")); err == nil {
			answer.Set("Date", at.Add(clock).UTC().Format(http.TimeFormat))
		}
		return changed.ReplaceAllFunc(list, func(element []byte) []byte {
			at, err := time.Parse(time.RFC3339Nano, string(changed.FindSubmatch(element)[1]))
			if err != nil {
				return element
			}
			return []byte("<LastModified>" + at.Add(objects).UTC().Format("2006-01-02T15:04:05.000Z") +
				"</LastModified>")
		})
	}
}

var changed = regexp.MustCompile(`<LastModified>([^<]*)</LastModified>`)

// misdate changes the times in the answer to a listing.
func (p *Proxy) misdate(answer *http.Response) error {
	p.mu.Lock()
	late := p.late
	p.mu.Unlock()
	if late == nil || !answer.Request.URL.Query().Has("list-type") {
		return nil
	}
	list, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	list = late(answer.Header, list)
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(list)), int64(len(list))
	answer.Header.Set("Content-Length", strconv.Itoa(len(list)))
	return nil
}
