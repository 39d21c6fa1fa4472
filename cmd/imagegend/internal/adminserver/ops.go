package adminserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/internal/accesslog"
	"github.com/imagegend/imagegend/internal/httpguard"
)

const (
	// OpsPath is the path below which programs find the calls, each by its name.
	OpsPath = "/admin/v1/"
	// opsBody bounds the body of a call, in bytes.
	opsBody = 64 << 10
)

// Ops serves operators' programs over HTTP. Its fields are set before the first request. It is safe for concurrent
// use.
type Ops struct {
	Local *Local
	// Verify returns the operator key of a raw key. ErrInvalidKey, ErrExpiredKey.
	Verify func(ctx context.Context, raw string) (account.OperatorKey, error)
	// Address returns the client's address, for the audit trail and the log. With an error the request is refused
	// with 403, and the key is not verified.
	Address func(*http.Request) (netip.Addr, error)
	Log     *slog.Logger
}

// Handler answers, below OpsPath, the same calls as the socket, to callers with a key whose scopes allow them.
// The audit trail names the key, and the log has a line for each request.
func (o *Ops) Handler() http.Handler {
	scopes := make(map[string]account.Scope) // by the name of the call
	for _, c := range o.Local.calls() {
		scopes[c.name] = c.scope
	}
	next := http.StripPrefix(strings.TrimSuffix(OpsPath, "/"), forPrograms.handler(o.Local))
	return o.Guard(func(r *http.Request) (account.Scope, string, bool) {
		name := strings.TrimPrefix(r.URL.Path, OpsPath)
		return scopes[name], OpsPath + name, scopes[name] != "" // without a scope it does not exist here
	}, next)
}

// Guard lets next answer the requests whose key has the scope that they need. needs returns that scope, and the route
// for the log; found is false if there is nothing to answer. next sees the key as the actor of its context, and a
// body of opsBody bytes at most.
//
// The key is verified before found is looked at, so that a stranger cannot tell which calls exist, and once more when
// the body has come, since it may have been revoked meanwhile.
func (o *Ops) Guard(needs func(*http.Request) (scope account.Scope, route string, found bool),
	next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &accesslog.Writer{ResponseWriter: w, Began: time.Now()}
		scope, route, found := needs(r)
		if !found {
			route = "unknown"
		}
		address, err := o.Address(r)
		var k account.OperatorKey
		var raw string
		if err == nil {
			raw, err = httpguard.Bearer(r.Header)
		}
		if err == nil {
			k, err = o.Verify(r.Context(), raw)
		}
		var body []byte
		var unread error
		if err == nil && found {
			body, unread = io.ReadAll(http.MaxBytesReader(seen, r.Body, opsBody))
			k, err = o.Verify(r.Context(), raw)
		}
		switch {
		case err != nil:
			refuseOps(seen, http.StatusForbidden, err)
		case !found:
			refuseOps(seen, http.StatusNotFound, imagegen.ErrNotFound)
		case !k.Scopes.Allow(scope):
			refuseOps(seen, http.StatusForbidden, fmt.Errorf("the key %s has no scope %s, which this needs; it has: %s",
				k.ID, scope, k.Scopes))
		case httpguard.Plain(r.Header) != nil:
			refuseOps(seen, http.StatusUnsupportedMediaType, httpguard.Plain(r.Header))
		case unread != nil:
			refuseOps(seen, http.StatusBadRequest, fmt.Errorf("the body cannot be read: %w", unread))
		default:
			r.Body = io.NopCloser(bytes.NewReader(body))
			ctx := account.WithActor(r.Context(), account.Actor{Via: account.ViaOps, Name: string(k.ID),
				Address: address.String()})
			next.ServeHTTP(seen, r.WithContext(ctx))
		}
		seen.Status = cmp.Or(seen.Status, http.StatusOK) // which net/http sends for an answer without bytes
		o.Log.LogAttrs(r.Context(), slog.LevelInfo, "request", append(seen.Attrs(r.Method, route, address),
			slog.String("key_id", string(k.ID)))...)
	})
}

// forPrograms is what surrounds the calls over HTTP.
var forPrograms = surroundings{example, withReference, refuseOps}

// example is the error for a body that cannot be read. It shows a program's author what the call takes.
func example(c call, why error) error {
	form, err := json.Marshal(c.in())
	if err != nil {
		return why
	}
	return fmt.Errorf("the body of %s is JSON such as %s: %s", c.name, form, strings.TrimPrefix(why.Error(), "json: "))
}

// withReference makes a call that moves credits safe to repeat. Its Idempotency-Key is required and becomes the
// reference, under which a ledger does a thing only once. CreateUser has no reference, so it may grant nothing here.
func withReference(r *http.Request, c call, in any) error {
	if u, ok := in.(*admin.NewUser); ok && u.Credits != 0 {
		return errors.New("credits are granted by " + OpsPath + admin.GrantCredits.Name +
			", which a repetition does not repeat; create the user without")
	}
	if c.ref == nil {
		return nil
	}
	ref := c.ref(in)
	key, err := httpguard.One(r.Header, "Idempotency-Key")
	switch {
	case err != nil:
		return err
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
// 400 from the decoding, 422 from a call, 403 or 415 from Guard. A refusal of the ledger is final, and so is that of a
// rule of this package. Everything else is 500: the program may repeat the call.
func statusOf(otherwise int, err error) (status int, code string) {
	e, ok := errors.AsType[*imagegen.Error](err)
	rule, isRule := errors.AsType[*worded](err)
	switch {
	case errors.Is(err, storage.ErrOutcomeUnknown):
		return http.StatusInternalServerError, string(imagegen.CodeInternal)
	case errors.Is(err, imagegen.ErrGrantConflict):
		return http.StatusConflict, string(imagegen.CodeIdempotencyKeyReused)
	case errors.Is(err, imagegen.ErrMissingKey), errors.Is(err, imagegen.ErrInvalidKey),
		errors.Is(err, imagegen.ErrExpiredKey):
		return http.StatusUnauthorized, string(e.Code)
	case otherwise == http.StatusUnsupportedMediaType:
		return otherwise, string(httpguard.CodeUnsupportedEncoding)
	case errors.Is(err, imagegen.ErrNotFound):
		return http.StatusNotFound, string(imagegen.CodeNotFound)
	case errors.Is(err, imagegen.ErrInvalidRequest), otherwise == http.StatusBadRequest:
		return http.StatusBadRequest, string(imagegen.CodeInvalidRequest)
	case otherwise == http.StatusForbidden && !ok:
		return otherwise, "forbidden"
	case imagegen.Permanent(err), isRule && rule.err == nil:
		return otherwise, "refused"
	}
	return http.StatusInternalServerError, string(imagegen.CodeInternal)
}
