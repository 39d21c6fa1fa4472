// Package admin is a client of the operators' HTTP interface, which imagegend serves with
// --ops-admin. It manages users, keys and credits, for example for a program that receives payments.
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

// Client calls one service with one operator key. It is safe for concurrent use.
//
// If the service answers that a call failed, the error is an [*Error]. After any other error there
// was no readable answer, and it is unknown whether the call was carried out. Parameters named user
// are the names of users, not their identifiers. Each method names the scope that the operator key
// must have.
type Client struct {
	base string
	key  string
	http *http.Client
}

// New returns a client of a service. address is where its --ops-addr can be reached, such as
// https://ops.example.com:9090; key is an operator key. If h is nil, each call is limited to a
// minute, and redirects are not followed. New does not connect.
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

// Error is the service's answer to a call that failed.
type Error struct {
	Status  int    // the HTTP status
	Code    string // such as "notFound", "forbidden", "refused" or "idempotencyKeyReused"
	Message string // for people: what happened, and what to do
}

// Error returns the Message.
func (e *Error) Error() string { return e.Message }

// Temporary reports whether the failure may be temporary: the service failed, or takes no calls at
// present (a status from 500, or 429). It is then unknown whether the call was carried out. Grant
// and Revoke can safely be repeated with the same key.
func (e *Error) Temporary() bool {
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
