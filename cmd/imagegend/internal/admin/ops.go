package admin

import (
	"context"
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
	// OpsPath is where the calls of an operator's program lie, each behind it by its name.
	OpsPath = "/admin/v1/"
	// opsBody is the most bytes of a call's body.
	opsBody = 64 << 10
)

// scopes are what a key needs for each call. What is not here is not had over HTTP: whoever could make operator keys
// would have no bounds.
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

	inviteUser: account.ScopeAll, // for who can invite an operator is one
}

// Ops serves an operator's programs over HTTP.
type Ops struct {
	Service Service
	// Verify returns the key that a raw key is; ErrInvalidKey, ErrExpiredKey.
	Verify func(ctx context.Context, raw string) (account.OperatorKey, error)
	// Address is where a request comes from. An error says why it is not served at all.
	Address func(*http.Request) (string, error)
	Log     *slog.Logger
}

// Handler answers the calls of the socket below OpsPath, to whoever has a key whose scopes allow them. Who has it stands in
// the audit trail, and each request in the log.
func (o *Ops) Handler() http.Handler {
	mux := http.NewServeMux()
	register(calls{mux, withReference, refuseOps}, o.Service)
	next := http.StripPrefix(strings.TrimSuffix(OpsPath, "/"), mux)
	return o.Guard(func(r *http.Request) (account.Scope, string, bool) {
		name := strings.TrimPrefix(r.URL.Path, OpsPath)
		scope, known := scopes[name]
		return scope, OpsPath + name, known
	}, next)
}

// Guard has next answer to whoever has a key with the scope that a request needs. The route is what the log has of it; not
// found is what no key can have.
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

// bearer is the key of a request.
func bearer(r *http.Request) string {
	scheme, raw, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(raw)
}

// withReference makes a call that moves credits safe to repeat: its Idempotency-Key is the reference, under which a
// ledger does something once.
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

// refuseOps tells a program why not: with a status and a code as the API has them.
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

// statusOf is the status of an error, and its code; otherwise is that of a refusal that has none. What is nobody's
// fault but the service's is 500: the program tries again.
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
	case !ok && errors.Unwrap(err) == nil: // a rule said no
		return otherwise, "refused"
	}
	return http.StatusInternalServerError, string(imagegen.CodeInternal)
}

// counted is an answer whose status and length are known.
type counted struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Unwrap serves http.ResponseController.
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
