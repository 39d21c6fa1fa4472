package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// The calls by name. The name is the last part of the path, on the socket (/NAME) and for programs (OpsPath NAME);
// clients outside this repository may use the latter, so a name must not change.
const (
	createUser      = "create-user"
	users           = "users"
	setAccountType  = "set-account-type"
	disableUser     = "disable-user"
	suspendUser     = "suspend-user"
	resumeUser      = "resume-user"
	removePasskeys  = "remove-passkeys"
	inviteUser      = "invite-user"
	createKey       = "create-key"
	keys            = "keys"
	revokeKey       = "revoke-key"
	createOpsKey    = "create-ops-key"
	opsKeys         = "ops-keys"
	revokeOpsKey    = "revoke-ops-key"
	limitKey        = "limit-key"
	usage           = "usage"
	grant           = "grant"
	revoke          = "revoke"
	lots            = "lots"
	history         = "history"
	generations     = "generations"
	generation      = "generation"
	eraseGeneration = "erase-generation"
	disputes        = "disputes"
	resolveDispute  = "resolve-dispute"
	trail           = "trail"
	audit           = "audit"
	backup          = "backup"
	backupStatus    = "backups"
	clock           = "clock"
	readiness       = "readiness"
	confirmClock    = "confirm-clock"
)

type (
	// none is the body of a call that takes or returns nothing, {}.
	none struct{}
	// failure is the body of a refusal on the socket. Programs get another, see refuseOps.
	failure struct {
		Error string `json:"error"`
		// The disk failed under a commit: the command needs this for its exit status.
		Disk bool `json:"disk,omitempty"`
	}
)

// errorTrailer is the HTTP trailer that carries the error of a stream which failed after its status was sent.
const errorTrailer = "Imagegend-Error"

// NewServer returns the server that answers a remote. Whoever can connect may do everything, so it belongs on a
// socket that only the operator can open. It learns from the socket who calls, for the audit trail. It has no limit
// on the time of a call: an audit or a backup takes as long as there is data.
func NewServer(s Service) *http.Server {
	return &http.Server{Handler: newHandler(s), ConnContext: asPeer, ReadHeaderTimeout: 10 * time.Second}
}

// newHandler serves the calls on the socket. A command says everything in the body of a call, and the socket decides
// who may call, so nothing is prepared.
func newHandler(s Service) http.Handler {
	mux := http.NewServeMux()
	register(calls{mux, misunderstood, func(*http.Request, any) error { return nil }, refuseCommand}, s)
	return mux
}

// misunderstood is the error for a body that a command has sent and this server cannot read: they are of different
// versions.
func misunderstood(_ string, _ any, why error) error {
	return fmt.Errorf("the running server does not understand the command: %w", why)
}

// refuseCommand sends an error to a command, as text that it prints. Only the failure of the disk keeps its type.
func refuseCommand(w http.ResponseWriter, status int, err error) {
	answer(w, status, failure{err.Error(), errors.Is(err, storage.ErrOutcomeUnknown)})
}

// calls registers the calls of a Service on a mux. The socket and the interface for programs share the calls and
// differ in what surrounds them.
type calls struct {
	*http.ServeMux
	// Puts into words why the body of a call cannot be read. in points to an empty In of handle.
	misread func(name string, in any, why error) error
	// Fills in what the request says outside of its body, or refuses it. in points to the In of handle.
	prepare func(r *http.Request, in any) error
	refuse  func(w http.ResponseWriter, status int, err error) // sends an error; status is a proposal
}

// register connects every call with the method of s that carries it out.
func register(mux calls, s Service) {
	handle(mux, createUser, s.CreateUser)
	handle(mux, users, func(ctx context.Context, _ none) ([]User, error) { return s.Users(ctx) })
	handle(mux, setAccountType, s.SetAccountType)
	handle(mux, disableUser, s.DisableUser)
	handle(mux, suspendUser, s.SuspendUser)
	handle(mux, removePasskeys, s.RemovePasskeys)
	handle(mux, resumeUser, s.ResumeUser)
	handle(mux, inviteUser, s.InviteUser)
	handle(mux, createKey, s.CreateKey)
	handle(mux, keys, s.Keys)
	handle(mux, revokeKey, s.RevokeKey)
	handle(mux, createOpsKey, s.CreateOpsKey)
	handle(mux, opsKeys, func(ctx context.Context, _ none) ([]OpsKey, error) { return s.OpsKeys(ctx) })
	handle(mux, revokeOpsKey, s.RevokeOpsKey)
	handle(mux, limitKey, s.LimitKey)
	handle(mux, usage, s.Usage)
	handle(mux, grant, s.Grant)
	handle(mux, revoke, s.Revoke)
	handle(mux, lots, s.Lots)
	handle(mux, history, s.History)
	handle(mux, generations, s.Generations)
	handle(mux, generation, s.Generation)
	handle(mux, eraseGeneration, func(ctx context.Context, id string) (none, error) { return none{}, s.EraseGeneration(ctx, id) })
	handle(mux, disputes, func(ctx context.Context, _ none) ([]Dispute, error) { return s.Disputes(ctx) })
	handle(mux, resolveDispute, s.Resolve)
	handle(mux, trail, s.Trail)
	handle(mux, audit, func(ctx context.Context, _ none) (imagegen.AuditReport, error) { return s.Audit(ctx) })
	handle(mux, backupStatus, func(ctx context.Context, _ none) (Backups, error) { return s.Backups(ctx) })
	handle(mux, readiness, func(ctx context.Context, _ none) (Readiness, error) { return s.Readiness(ctx) })
	handle(mux, clock, func(ctx context.Context, _ none) (Clock, error) { return s.Clock(ctx) })
	handle(mux, confirmClock, func(ctx context.Context, _ none) (none, error) { return none{}, s.ConfirmClock(ctx) })
	mux.HandleFunc("POST /"+backup, func(w http.ResponseWriter, r *http.Request) { streamBackup(w, r, s) })
}

// handle registers one call: a POST with In as JSON, answered with Out as JSON. A body that cannot be read, or that
// prepare refuses, is 400. An error of f is 422, unless refuse knows better.
func handle[In, Out any](mux calls, name string, f func(context.Context, In) (Out, error)) {
	mux.HandleFunc("POST /"+name, func(w http.ResponseWriter, r *http.Request) {
		var in In
		err := decode(r.Body, &in)
		if err != nil {
			err = mux.misread(name, new(In), err)
		} else {
			err = mux.prepare(r, &in)
		}
		if err != nil {
			mux.refuse(w, http.StatusBadRequest, err)
			return
		}
		out, err := f(r.Context(), in)
		if err != nil {
			mux.refuse(w, http.StatusUnprocessableEntity, err)
			return
		}
		answer(w, http.StatusOK, out)
	})
}

// decode reads a body that is one value and nothing else. A newer command may say more: that is refused rather than
// carried out in part.
func decode(body io.Reader, in any) error {
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	if err := d.Decode(in); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows it")
	}
	return nil
}

// answer sends a status and a body as JSON.
func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // an error means that the caller is gone
}

// streamBackup sends an archive as it is made. The status is sent before the outcome is known; the outcome follows in
// the trailer. The body is chunked, so the client also notices a connection that breaks.
func streamBackup(w http.ResponseWriter, r *http.Request, s Service) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Trailer", errorTrailer)
	if err := s.Backup(r.Context(), w); err != nil {
		w.Header().Set(errorTrailer, err.Error())
	}
}

// Ready answers GET /readyz for monitoring: 200 if work is taken, else 503, with reasons and warnings. Unlike the
// public /readyz it says why, so it belongs where only operators can ask.
func Ready(s Service) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found, err := s.Readiness(r.Context())
		switch {
		case err != nil:
			answer(w, http.StatusInternalServerError, failure{Error: err.Error()})
		case found.Ready:
			answer(w, http.StatusOK, found)
		default:
			answer(w, http.StatusServiceUnavailable, found)
		}
	})
}
