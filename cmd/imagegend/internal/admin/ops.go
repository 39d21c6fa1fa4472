package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage"
)

const (
	// OpsPath is the path below which programs find the calls, each by its name.
	OpsPath = "/admin/v1/"
	// opsBody bounds the body of a call, in bytes.
	opsBody = 64 << 10
)

// scopes says which scope a key needs for each call. A call that is not listed does not exist over HTTP. That holds
// for the calls that make operator keys, since a program could give itself more rights with them.
var scopes = map[string]account.Scope{
	users: account.ScopeRead, keys: account.ScopeRead, lots: account.ScopeRead, history: account.ScopeRead, generations: account.ScopeRead,
	disputes: account.ScopeRead, trail: account.ScopeRead, readiness: account.ScopeRead, clock: account.ScopeRead, backupStatus: account.ScopeRead,
	usage: account.ScopeRead,

	createUser: account.ScopeUsers, setAccountType: account.ScopeUsers, disableUser: account.ScopeUsers,
	suspendUser: account.ScopeUsers, resumeUser: account.ScopeUsers,
	createKey: account.ScopeUsers, revokeKey: account.ScopeUsers, limitKey: account.ScopeUsers,

	grant: account.ScopeCredits, revoke: account.ScopeCredits,

	generation: account.ScopeData, eraseGeneration: account.ScopeData, resolveDispute: account.ScopeData, audit: account.ScopeData,
	backup: account.ScopeData, confirmClock: account.ScopeData,

	inviteUser: account.ScopeAll, // whoever can invite an operator can become one
}

// Ops serves operators' programs over HTTP. Its fields are set before the first request. It is safe for concurrent
// use.
type Ops struct {
	Service Service
	// Verify returns the operator key of a raw key. ErrInvalidKey, ErrExpiredKey.
	Verify func(ctx context.Context, raw string) (account.OperatorKey, error)
	// Address returns the client's address, for the audit trail and the log. With an error the request is refused
	// with 403, and the key is not verified.
	Address func(*http.Request) (string, error)
	Log     *slog.Logger
}

// Handler answers, below OpsPath, the same calls as the socket, to whoever presents a key whose scopes allow them.
// The audit trail names the key, and the log has a line for each request.
func (o *Ops) Handler() http.Handler {
	mux := http.NewServeMux()
	register(calls{mux, example, withReference, refuseOps}, o.Service)
	next := http.StripPrefix(strings.TrimSuffix(OpsPath, "/"), mux)
	return o.Guard(func(r *http.Request) (account.Scope, string, bool) {
		name := strings.TrimPrefix(r.URL.Path, OpsPath)
		scope, known := scopes[name]
		return scope, OpsPath + name, known
	}, next)
}

// Guard lets next answer the requests whose key has the scope that they need. needs returns that scope, and the route
// for the log; found is false if there is nothing to answer. next sees the key as the actor of its context, and a
// body of opsBody bytes at most.
//
// The key is verified before found is looked at, so that a stranger cannot tell which calls exist.
func (o *Ops) Guard(needs func(*http.Request) (scope account.Scope, route string, found bool), next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		seen := &counted{ResponseWriter: w, status: http.StatusOK}
		scope, route, found := needs(r)
		if !found {
			route = "unknown"
		}
		address, err := o.Address(r)
		var k account.OperatorKey
		raw := bearer(r)
		switch {
		case err != nil:
		case raw == "":
			err = imagegen.ErrMissingKey
		default:
			k, err = o.Verify(r.Context(), raw)
		}
		switch {
		case err != nil:
			refuseOps(seen, http.StatusForbidden, err)
		case !found:
			refuseOps(seen, http.StatusNotFound, imagegen.ErrNotFound)
		case !k.Scopes.Allow(scope):
			refuseOps(seen, http.StatusForbidden, fmt.Errorf("the key %s has no scope %s, which this needs; it has: %s", k.ID, scope, k.Scopes))
		default:
			r.Body = http.MaxBytesReader(seen, r.Body, opsBody)
			ctx := account.WithActor(r.Context(), account.Actor{Via: account.ViaOps, Name: string(k.ID), Address: address})
			next.ServeHTTP(seen, r.WithContext(ctx))
		}
		o.Log.InfoContext(r.Context(), "request", "method", r.Method, "route", route, "status", seen.status, "bytes", seen.bytes,
			"duration_ms", float64(time.Since(began).Microseconds())/1000, "address", address, "key_id", string(k.ID))
	})
}

// example is the error for a body that cannot be read. It shows a program's author what the call takes.
func example(name string, in any, why error) error {
	form, err := json.Marshal(in)
	if err != nil {
		return why
	}
	return fmt.Errorf("the body of %s is JSON such as %s: %s", name, form, strings.TrimPrefix(why.Error(), "json: "))
}

// bearer returns the raw key of a request; "" if there is none.
func bearer(r *http.Request) string {
	scheme, raw, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(raw)
}

// withReference makes a call that moves credits safe to repeat. Its Idempotency-Key is required and becomes the
// reference, under which a ledger does a thing only once. CreateUser has no reference, so it may grant nothing here.
func withReference(r *http.Request, in any) error {
	var ref *string
	switch in := in.(type) {
	case *Grant:
		ref = &in.Ref
	case *Revocation:
		ref = &in.Ref
	case *NewUser:
		if in.Credits != 0 {
			return errors.New("credits are granted by " + OpsPath + grant + ", which a repetition does not repeat; create the user without")
		}
		return nil
	default:
		return nil
	}
	key := r.Header.Get("Idempotency-Key")
	switch {
	case key == "":
		return errors.New("the header Idempotency-Key is missing: name what is paid for, such as the event of the payment, so that a repetition changes nothing")
	case *ref != "" && *ref != key:
		return fmt.Errorf("ref is %q and Idempotency-Key %q; leave ref out", *ref, key)
	}
	*ref = key
	return nil
}

// refuseOps sends an error to a program in the form that the API uses: a status, a message and a code.
func refuseOps(w http.ResponseWriter, status int, err error) {
	status, code := statusOf(status, err)
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	type detail struct {
		Message string `json:"message"`
		Code    string `json:"code"`
	}
	answer(w, status, struct {
		Error detail `json:"error"`
	}{detail{err.Error(), code}})
}

// statusOf returns the status of an error and its code. otherwise is the status of an error that has none of its own:
// 400 from the decoding, 422 from a call, 403 from Guard. A refusal of the ledger is final, and so is that of a rule
// of this package. Everything else is 500: the program may repeat the call.
func statusOf(otherwise int, err error) (status int, code string) {
	e, ok := errors.AsType[*imagegen.Error](err)
	switch {
	case errors.Is(err, storage.ErrOutcomeUnknown):
		return http.StatusInternalServerError, string(imagegen.CodeInternal)
	case errors.Is(err, imagegen.ErrGrantConflict):
		return http.StatusConflict, string(imagegen.CodeIdempotencyKeyReused)
	case errors.Is(err, imagegen.ErrMissingKey), errors.Is(err, imagegen.ErrInvalidKey), errors.Is(err, imagegen.ErrExpiredKey):
		return http.StatusUnauthorized, string(e.Code)
	case errors.Is(err, imagegen.ErrNotFound):
		return http.StatusNotFound, string(imagegen.CodeNotFound)
	case errors.Is(err, imagegen.ErrInvalidRequest), otherwise == http.StatusBadRequest:
		return http.StatusBadRequest, string(imagegen.CodeInvalidRequest)
	case otherwise == http.StatusForbidden && !ok:
		return otherwise, "forbidden"
	case imagegen.RefusedForGood(err), ruled(err):
		return otherwise, "refused"
	}
	return http.StatusInternalServerError, string(imagegen.CodeInternal)
}

// counted notes the status and the length of an answer for the log.
type counted struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Unwrap lets http.ResponseController reach the connection's deadlines.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (c *counted) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (c *counted) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.bytes += int64(n)
	return n, err
}
