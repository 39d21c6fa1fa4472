package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// The calls, as they stand in the path.
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
	none    struct{}
	failure struct {
		Error string `json:"error"`
		Disk  bool   `json:"disk,omitempty"` // it failed under a commit: a status of its own, which no text carries
	}
)

// errorTrailer tells of a stream that failed on its way.
const errorTrailer = "Imagegend-Error"

// NewServer answers what a remote asks, and knows whose process it is. Who reaches it may do all: it belongs
// on a socket that only the operator can open.
func NewServer(s Service) *http.Server {
	return &http.Server{Handler: newHandler(s), ConnContext: asPeer, ReadHeaderTimeout: 10 * time.Second}
}

func newHandler(s Service) http.Handler {
	mux := http.NewServeMux()
	register(calls{mux, func(*http.Request, any) error { return nil }, refuseCommand}, s)
	return mux
}

// refuseCommand tells a command why not.
func refuseCommand(w http.ResponseWriter, status int, err error) {
	answer(w, status, failure{err.Error(), errors.Is(err, storage.ErrOutcomeUnknown)})
}

// calls are the calls of a service as one of its interfaces answers them.
type calls struct {
	*http.ServeMux
	prepare func(r *http.Request, in any) error // takes from a request what stands beside its body
	refuse  func(w http.ResponseWriter, status int, err error)
}

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

func handle[In, Out any](mux calls, name string, f func(context.Context, In) (Out, error)) {
	mux.HandleFunc("POST /"+name, func(w http.ResponseWriter, r *http.Request) {
		var in In
		d := json.NewDecoder(r.Body)
		d.DisallowUnknownFields() // from a newer command: better refused than done in part
		err := d.Decode(&in)
		if err != nil {
			err = fmt.Errorf("the running server does not understand the command: %w", err)
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

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // who does not read on is gone
}

func streamBackup(w http.ResponseWriter, r *http.Request, s Service) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Trailer", errorTrailer)
	if err := s.Backup(r.Context(), w); err != nil {
		w.Header().Set(errorTrailer, err.Error())
	}
}

// Ready tells who watches the service, and may know why, whether it takes work.
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
