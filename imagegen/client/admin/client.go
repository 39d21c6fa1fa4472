// Package admin is a client of the operator's HTTP interface, which imagegend serves with
// --ops-admin: users, keys and credits for a program, such as one that receives payments.
//
//	c, err := admin.New("https://ops.example.com:9090", os.Getenv("IMAGEGEND_OPS_KEY"), nil)
//	granted, err := c.Grant(ctx, event.ID, admin.Grant{User: "alice", Credits: 1000})
package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// timeout bounds a call of a Client whose http.Client was not given.
const timeout = time.Minute

// maxAnswer is the most bytes of an answer that are read.
const maxAnswer = 64 << 20

// Client calls one service. It is safe for concurrent use.
type Client struct {
	base string
	key  string
	http *http.Client
}

// New returns a client of the service whose --ops-addr is reached at address, such as
// https://ops.example.com:9090, with an operator key. A nil h stands for a client that
// limits each call to a minute and follows no redirect. New does not connect.
func New(address, key string, h *http.Client) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("admin: write an address such as https://ops.example.com:9090; got %q", address)
	}
	if key == "" {
		return nil, errors.New("admin: an operator key is required; imagegend ops-key create makes one")
	}
	if h == nil {
		h = &http.Client{Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return &Client{strings.TrimRight(address, "/"), key, h}, nil
}

// Error is an answer other than success.
type Error struct {
	Status  int    // of HTTP
	Code    string // such as "notFound", "forbidden", "refused", "idempotencyKeyReused"
	Message string // for people: what happened, and what to do
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Passing reports whether the same call may succeed later: the service failed, or takes
// no calls at present. It is then unknown whether a Client.Grant was carried out, and
// safe to repeat it with the same key.
func (e *Error) Passing() bool {
	return e.Status >= http.StatusInternalServerError || e.Status == http.StatusTooManyRequests
}

// call sends one call. key is its Idempotency-Key; "": none.
func call[Out any](ctx context.Context, c *Client, name, key string, in any) (out Out, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return out, fmt.Errorf("admin: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/admin/v1/"+name, bytes.NewReader(body))
	if err != nil {
		return out, fmt.Errorf("admin: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+c.key)
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return out, fmt.Errorf("admin: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return out, fmt.Errorf("admin: the answer broke off: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return out, failure(answer.StatusCode, text)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return out, fmt.Errorf("admin: the answer cannot be read: %w", err)
	}
	return out, nil
}

func failure(status int, text []byte) error {
	var told struct {
		Error struct{ Message, Code string }
	}
	if json.Unmarshal(text, &told) != nil || told.Error.Code == "" {
		return &Error{Status: status, Message: fmt.Sprintf("the address answered with status %d and not as imagegend does with --ops-admin", status)}
	}
	return &Error{status, told.Error.Code, told.Error.Message}
}
