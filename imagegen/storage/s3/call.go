package s3

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go/encoding/httpbinding"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// client sends signed requests about one bucket. Credentials, signatures, retries and connections are those of Amazon's
// library. Its package of calls is left out: it takes as long to compile as all else of it, for nine calls.
type client struct {
	http        aws.HTTPClient
	credentials aws.CredentialsProvider
	signer      *v4.Signer
	retryer     aws.RetryerV2
	bucket      *url.URL // the address of the bucket
	region      string
	ahead       atomic.Int64 // nanoseconds by which the object store's clock was ahead of this one when it last answered
}

// call is one request.
type call struct {
	method string
	key    string // of an object; "": the bucket itself
	query  url.Values
	header map[string]string
	body   func() io.Reader // its beginning, anew for each try; nil: none
	size   int64            // of the body
}

// virtual matches the buckets whose name can be a part of a host that has a certificate.
var virtual = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`)

// bucketURL returns the address of a bucket at an endpoint.
func bucketURL(endpoint, bucket string, pathStyle bool) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("s3: the endpoint %q is not an address: write https://host", endpoint)
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	if pathStyle || !virtual.MatchString(bucket) || net.ParseIP(u.Hostname()) != nil {
		u.Path += "/" + bucket
	} else {
		u.Host = bucket + "." + u.Host
	}
	return u, nil
}

// request returns a request that is not signed.
func (c *client) request(ctx context.Context, in call) (*http.Request, error) {
	u := *c.bucket
	if in.key != "" || u.Path == "" {
		u.Path += "/" + in.key
		u.RawPath = httpbinding.EscapePath(u.Path, false)
	}
	u.RawQuery = in.query.Encode()
	r, err := http.NewRequestWithContext(ctx, in.method, c.bucket.String(), nil)
	if err != nil {
		return nil, err
	}
	r.URL = &u
	for name, value := range in.header {
		r.Header.Set(name, value)
	}
	return r, nil
}

// do sends a request, again where that may help, and returns an answer whose status is 2xx. The caller closes its body.
func (c *client) do(ctx context.Context, in call) (*http.Response, error) {
	keys, err := c.credentials.Retrieve(ctx)
	if err != nil {
		return nil, err
	}
	again := func(error) error { return nil }
	for try := 1; ; try++ {
		done, err := c.retryer.GetAttemptToken(ctx)
		if err != nil {
			return nil, err
		}
		answer, failed := c.try(ctx, in, keys)
		_, _ = done(failed), again(failed) // they only count
		if failed == nil || try == c.retryer.MaxAttempts() || ctx.Err() != nil || !c.mayHelp(failed) {
			return answer, failed
		}
		if again, err = c.retryer.GetRetryToken(ctx, failed); err != nil {
			return nil, failed // too many have failed lately
		}
		pause, err := c.retryer.RetryDelay(try, failed)
		if err != nil {
			return nil, failed
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), failed)
		case <-time.After(pause):
		}
	}
}

// mayHelp reports whether a request that failed may succeed when it is repeated.
func (c *client) mayHelp(err error) bool {
	refused, ok := errors.AsType[*refusal](err)
	return ok && refused.skewed || c.retryer.IsErrorRetryable(err)
}

// try signs and sends a request once.
func (c *client) try(ctx context.Context, in call, keys aws.Credentials) (*http.Response, error) {
	r, err := c.request(ctx, in)
	if err != nil {
		return nil, err
	}
	sum := unsigned // where nobody can change what is sent
	if r.URL.Scheme != "https" {
		if sum, err = sumOfBody(in.body); err != nil {
			return nil, err
		}
	}
	if in.size > 0 {
		r.Body, r.ContentLength = io.NopCloser(in.body()), in.size
	}
	if in.size >= expectFrom {
		r.Header.Set("Expect", "100-continue")
	}
	r.Header.Set("X-Amz-Content-Sha256", sum)
	if err := c.signer.SignHTTP(ctx, keys, r, sum, "s3", c.region, c.now()); err != nil {
		return nil, err
	}
	r.Header.Set("Accept-Encoding", "identity") // unsigned: proxies change it
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, &smithyhttp.RequestSendError{Err: err} // as the retryer knows it
	}
	skewed := c.synchronize(answer)
	if answer.StatusCode/100 == 2 {
		return answer, nil
	}
	defer answer.Body.Close()
	refused := &refusal{status: answer.StatusCode, request: answer.Header.Get("X-Amz-Request-Id"), skewed: skewed}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, maxRefusal))
	_ = xml.Unmarshal(text, refused) // without a text, the status says enough
	return nil, refused
}

const (
	// unsigned stands for the SHA-256 of what is sent.
	unsigned = "UNSIGNED-PAYLOAD"
	// expectFrom is from which size on a body is only sent when the object store has seen the header.
	expectFrom = 2 << 20
	// maxRefusal is how much of the text of a refusal is read.
	maxRefusal = 64 << 10
)

// sumOfBody returns the SHA-256 of a body.
func sumOfBody(body func() io.Reader) (string, error) {
	sum := sha256.New()
	if body != nil {
		if _, err := io.Copy(sum, body()); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// now is the object store's time, as far as it is known.
func (c *client) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// tolerated is how far clocks may be apart: an object store refuses requests that are a quarter of an hour off.
const tolerated = 4 * time.Minute

// synchronize notes what time the object store has, and reports whether the request was signed with another one.
func (c *client) synchronize(answer *http.Response) (signedWrong bool) {
	theirs, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return false
	}
	signedWrong = theirs.Sub(c.now()).Abs() > tolerated
	if signedWrong {
		c.ahead.Store(int64(time.Until(theirs)))
	}
	return signedWrong
}

// read sends a request and reads its answer, an XML document, into out; nil: the answer has none.
func (c *client) read(ctx context.Context, in call, out any) (http.Header, error) {
	answer, err := c.do(ctx, in)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || out == nil {
		return answer.Header, err
	}
	refused := &refusal{status: http.StatusInternalServerError}
	if xml.Unmarshal(text, refused) == nil && refused.Code != "" { // what was put together may fail behind its status
		return nil, refused
	}
	return answer.Header, xml.Unmarshal(text, out)
}

// refusal is an answer whose status is not 2xx. Amazon's library asks its methods whether a repetition may help.
type refusal struct {
	XMLName xml.Name `xml:"Error"`
	Code    string
	Message string

	status  int
	request string // the object store's name of the request, for its operator
	skewed  bool   // the request was signed with a wrong time, and the next one will not be
}

func (e *refusal) Error() string {
	said := cmp.Or(e.Code, http.StatusText(e.status))
	if e.Message != "" {
		said += ": " + e.Message
	}
	if e.request != "" {
		said += ", request " + e.request
	}
	return fmt.Sprintf("the object store answered %d, %s", e.status, said)
}

func (e *refusal) HTTPStatusCode() int { return e.status }
func (e *refusal) ErrorCode() string   { return e.Code }
