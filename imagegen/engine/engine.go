package engine

import (
	"context"
	"errors"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/engine/internal/schedule"
	"github.com/imagegend/imagegend/imagegen/engine/internal/thumbnails"
	"github.com/imagegend/imagegend/imagegen/engine/internal/uploads"
	"github.com/imagegend/imagegend/imagegen/engine/internal/waiting"
)

// Engine implements the rules of the service: validation, pricing, charging, generation,
// refunds, ownership and recovery. It is safe for concurrent use. It starts no goroutine
// before Start.
type Engine struct {
	cfg      Config
	store    imagegen.Store
	ledger   imagegen.Ledger
	joint    imagegen.TxStore     // nil: the ledger shares no transaction with the store
	host     imagegen.HostTxStore // nil: the two write in no transaction of the host's
	images   imagegen.ImageStore
	spool    imagegen.Spool
	catalogs *catalogs
	accounts *account.Accounts
	ids      *imagegen.IDs

	slots     *schedule.Slots
	shares    *shares
	refusals  *refusals
	undecoded memory
	unstored  memory
	breaker   breaker
	decoding  *semaphore.Weighted // bytes of what is decoded
	waiting   *waiting.Room
	lists     *turns // in which lists are read
	turning   *turns // in which references are turned upright
	uploads   *uploads.Uploads
	leases    *leases
	life      *lifecycle
	hints     chan struct{} // holds one: there may be queued work
	removals  removals
	reached   limitsReached

	thumbnails *thumbnails.Maker
	health     *health
	readiness  loggedReadiness
	lastAudit  atomic.Pointer[Audit]
}

// New checks the configuration and returns an engine that does nothing yet. Its error
// names everything that is wrong with the configuration at once.
func New(cfg Config) (*Engine, error) {
	cfg = cfg.withDefaults()
	models, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	ids := imagegen.NewIDs()
	e := &Engine{
		cfg: cfg, store: cfg.Store, ledger: cfg.Ledger, images: cfg.Images, spool: cfg.Spool,
		catalogs:  newCatalogs(models),
		accounts:  account.New(cfg.Store, ids, cfg.Now),
		ids:       ids,
		slots:     schedule.NewSlots(cfg.Limits.Concurrency),
		shares:    &shares{joining: make(map[imagegen.UserID]int)},
		refusals:  newRefusals(cfg.Limits.MaxRefusals),
		undecoded: newUndecoded(),
		unstored:  newUnstored(),
		decoding:  semaphore.NewWeighted(decodeBudget),
		lists:     newTurns(rowsOfUser, rowsOfAll),
		turning:   newTurns(turnedOfUser, turnedOfAll),
		leases:    &leases{held: make(map[imagegen.Fence]*lease)},
		life:      newLifecycle(),
		hints:     make(chan struct{}, 1),
		health:    &health{last: make(map[string]ProviderHealth)},
	}
	e.uploads, e.thumbnails = e.newUploads(), e.newThumbnails()
	e.waiting = waiting.NewRoom(waiting.Config{
		Store: e.store, Draining: e.life.loop, Timeout: cfg.Attempts.Timeout,
		MaxWaiting: cfg.Repeats.MaxWaiting, JoinWindow: cfg.Repeats.JoinWindow,
		Age: e.Age, RunsHere: e.runsHere, Mark: e.markDelivery,
	})
	e.slots.SetMost(models.maxAtOnce(e.cfg.Limits.Concurrency, e.cfg.Nodes))
	// A Store that wraps another may implement TxStore although the Ledger is not its own.
	if j, ok := cfg.Store.(imagegen.TxStore); ok && j.Joins(cfg.Ledger) {
		e.joint = j
		e.host, _ = cfg.Store.(imagegen.HostTxStore)
	}
	if cfg.Feed {
		if err := e.beginFeed(); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// As returns the Service of a user. It does not check whether the user exists, since an
// embedder may have users of its own.
func (e *Engine) As(u imagegen.UserID) *Session { return &Session{engine: e, user: u} }

// Authenticate returns the Service of the user to whom a raw API key belongs.
// ErrMissingKey: the key is empty. ErrInvalidKey: it is malformed, unknown or revoked, or
// its user is disabled. ErrExpiredKey: it has expired. For a key on behalf of people it is the Service of the person
// whom ctx names, see [account.WithPerson]; without one, that of the key's user, for what needs no person.
// ErrInvalidRequest: the person cannot be one. ErrChargeRefused: the person is disabled, or has left.
// With an empty key, it is the Service of the caller whom ctx has, see [account.WithCaller]; ErrInvalidKey then also
// means that the user is disabled, and the errors of Caller.Still come back.
func (e *Engine) Authenticate(ctx context.Context, rawKey string) (*Session, error) {
	if c, ok := account.CallerOf(ctx); ok && rawKey == "" {
		return e.asCaller(ctx, c)
	}
	k, u, err := e.accounts.Authenticate(ctx, rawKey)
	if err != nil {
		return nil, err
	}
	s := &Session{engine: e, user: k.User, key: k.ID, hash: k.Hash, found: u}
	if k.Members == 0 {
		s.limits = k.Limits
		return s, nil
	}
	s.behalf, s.owner = k, u
	if p := account.PersonOf(ctx); p != (account.Person{}) {
		return s.onBehalfOf(ctx, p)
	}
	return s, nil
}

// Trail returns the audit trail of the Store; nil if it keeps none.
func (e *Engine) Trail() account.TrailStore {
	t, _ := e.store.(account.TrailStore)
	return t
}

// Accounts returns the users and API keys of the Store.
func (e *Engine) Accounts() *account.Accounts { return e.accounts }

// Record returns everything that is stored about a generation of any user. It is for operators.
// ErrNotFound: there is none, or it is invisible, since it may not have been charged yet or was
// erased.
func (e *Engine) Record(ctx context.Context, id imagegen.GenerationID) (imagegen.Record, error) {
	r, err := e.store.Generation(ctx, id)
	if err == nil && !r.Visible() {
		err = imagegen.ErrNotFound
	}
	if err != nil {
		return imagegen.Record{}, imagegen.ToUserError(err)
	}
	return r, nil
}

// Ready returns nil if the engine takes work, else the reasons of Readiness in one error, for
// operators.
func (e *Engine) Ready(ctx context.Context) error {
	var errs []error
	for _, n := range e.Readiness(ctx).Reasons {
		errs = append(errs, errors.New(n.Detail))
	}
	return errors.Join(errs...)
}

// storeReady asks the Store, if it is a ReadinessChecker.
func (e *Engine) storeReady(ctx context.Context) error {
	if r, ok := e.store.(imagegen.ReadinessChecker); ok {
		return r.Ready(ctx)
	}
	return nil
}
