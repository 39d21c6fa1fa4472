// Package admin is what an operator can do with a service, such as to manage users, keys and credits, and a client of
// the HTTP interface for it, which imagegend serves with --ops-admin. A program that receives payments grants credits:
//
//	c, err := admin.New("https://ops.example.com:9090", os.Getenv("IMAGEGEND_OPS_KEY"), nil)
//	granted, err := admin.GrantCredits.Do(ctx, c, admin.Grant{User: "alice", Credits: 1000, Ref: event.ID})
//
// Each [Call] is a variable of this package, with its types, its path and the scope that it needs. The commands of
// imagegend make the same calls without a key, by another [Caller].
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
	"path"
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
// was no readable answer, and it is unknown whether the call was carried out. Users are named by their
// names, not by their identifiers.
type Client struct {
	base string
	key  string
	http *http.Client
}

// New returns a client of a service. address is where its --ops-addr can be reached, such as
// https://ops.example.com:9090; key is an operator key. If h is nil, each call is limited to a
// minute, which an audit or a backup can exceed, and redirects are not followed. New does not connect.
func New(address, key string, h *http.Client) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("admin: write an address such as https://ops.example.com:9090; got %q", address)
	}
	if key == "" {
		return nil, errors.New("admin: an operator key is required; imagegend ops-key create makes one")
	}
	if h == nil {
		h = &http.Client{Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}
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
// present (a status from 500, or 429). It is then unknown whether the call was carried out. GrantCredits
// and RevokeCredits can safely be repeated with the same Ref.
func (e *Error) Temporary() bool {
	return e.Status >= http.StatusInternalServerError || e.Status == http.StatusTooManyRequests
}

// Call implements [Caller].
func (c *Client) Call(ctx context.Context, name, ref string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("admin: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/admin/v1/"+name, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("admin: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+c.key)
	r.Header.Set("Content-Type", "application/json")
	if ref != "" {
		r.Header.Set("Idempotency-Key", ref)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return fmt.Errorf("admin: %w", err)
	}
	defer answer.Body.Close()
	if w, ok := out.(io.Writer); ok && answer.StatusCode == http.StatusOK {
		return Receive(answer, w)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("admin: the answer broke off: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return failure(answer.StatusCode, text)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("admin: the answer cannot be read: %w", err)
	}
	return nil
}

// ErrorTrailer is the HTTP trailer that carries the error of a [Download] which failed after its status was sent.
const ErrorTrailer = "Imagegend-Error"

// Receive copies the answer of a [Download] to w. Only one that ends with an empty ErrorTrailer is whole.
func Receive(answer *http.Response, w io.Writer) error {
	if _, err := io.Copy(w, answer.Body); err != nil {
		return fmt.Errorf("the %s broke off: %w", path.Base(answer.Request.URL.Path), err)
	}
	if text := answer.Trailer.Get(ErrorTrailer); text != "" {
		return errors.New(text)
	}
	return nil
}

func failure(status int, text []byte) error {
	var body struct {
		Error struct{ Message, Code string }
	}
	if json.Unmarshal(text, &body) != nil || body.Error.Code == "" {
		return &Error{Status: status,
			Message: fmt.Sprintf("the address answered with status %d and not as imagegend does with --ops-admin",
				status)}
	}
	return &Error{status, body.Error.Code, body.Error.Message}
}
