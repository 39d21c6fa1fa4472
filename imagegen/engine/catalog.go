package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/imagegend/imagegend/imagegen"
)

// catalogEntry is a model with what its provider can do and what it offers.
type catalogEntry struct {
	Model
	can    imagegen.Capabilities // the provider's
	info   imagegen.ModelInfo    // without prices, see Engine.pricedInfo
	prices []imagegen.Price      // the model's lines as they apply, one after the other; the last has no condition

	// efforts are what can be asked of the provider, by tier; first what a request asks that leaves everything open
	efforts map[imagegen.Tier][]imagegen.Quality
	hung    *atomic.Int64 // how many calls of Price have not returned within priceLimit
}

// entry returns the model, whose Provider is valid, as it is offered under a policy; nil: SizeFirst.
func (m Model) entry(policy Policy) catalogEntry {
	if policy == nil {
		policy = SizeFirst
	}
	can := m.Provider.Capabilities().WithDefaults()
	return catalogEntry{Model: m, can: can, info: m.info(can), hung: new(atomic.Int64),
		prices: append(slices.Clone(m.Prices), imagegen.Price{Credits: m.Credits})}.withEfforts(policy)
}

// catalog is a set of models. It is never changed, so reading it needs no lock.
type catalog struct {
	revision      uint64
	entries       map[string]catalogEntry // the retired ones too
	all           []imagegen.ModelInfo    // those of offers, in the order of the configuration
	listed        []imagegen.ModelInfo    // without the retired ones
	providerNames map[string]string       // the name of each model's provider, also of models that were dropped
}

// newCatalog returns an error that names everything that is wrong with the models at
// once.
func newCatalog(models []Model, cfg Config) (*catalog, error) {
	c := &catalog{entries: make(map[string]catalogEntry, len(models)), providerNames: make(map[string]string,
		len(models))}
	var errs []error
	for _, m := range models {
		if _, taken := c.entries[m.ID]; taken || m.ID == "" {
			errs = append(errs, fmt.Errorf("imagegen: model identifiers must be present and differ; got %q", m.ID))
		}
		c.entries[m.ID] = catalogEntry{Model: m}
		if strings.ContainsRune(m.ID, 0) {
			errs = append(errs, fmt.Errorf("imagegen: the model identifier %q holds a NUL", m.ID))
		}
		if m.SendUser && len(cfg.EndUserKey) == 0 {
			errs = append(errs, fmt.Errorf("imagegen: model %q has SendUser: Config.EndUserKey is required", m.ID))
		}
		if err := m.validateModel(cfg.Policy); err != nil {
			errs = append(errs, err)
			continue
		}
		c.addModel(m.entry(cfg.Policy))
	}
	errs = append(errs, checkAliases(models)...)
	return c, errors.Join(errs...)
}

// checkAliases reports aliases that are empty, or that another model has as its name or
// alias.
func checkAliases(models []Model) (errs []error) {
	taken := make(map[string]bool)
	for _, m := range models {
		taken[m.ID] = true
	}
	for _, m := range models {
		for _, a := range m.Aliases {
			if a == "" || strings.ContainsRune(a, 0) || taken[a] {
				errs = append(errs,
					fmt.Errorf("imagegen: model %q: the alias %q is empty, or already the name or alias of a model",
						m.ID, a))
			}
			taken[a] = true
		}
	}
	return errs
}

func (c *catalog) addModel(m catalogEntry) {
	c.entries[m.ID], c.providerNames[m.ID] = m, m.info.Provider
	c.all = append(c.all, m.info)
	if !m.Retired {
		c.listed = append(c.listed, m.info)
	}
}

// upstreams identify what m.Provider calls.
func (m Model) upstreams() []string {
	if m.Upstreams == nil {
		return []string{m.Provider.Name()}
	}
	return m.Upstreams
}

// resumes reports whether the model's provider can continue the job of r: there is none, or
// the provider shares an upstream with the one that saved it.
func (m Model) resumes(r imagegen.Record) bool {
	saved := func(upstream string) bool { return slices.Contains(r.JobUpstreams, upstream) }
	return len(r.Job) == 0 || slices.ContainsFunc(m.upstreams(), saved)
}

// catalogs hold the current catalog. Reading it takes no lock.
type catalogs struct {
	current atomic.Pointer[catalog]

	// mu guards calls. SetModels holds it while it judges the new models, so that meanwhile no
	// asynchronous call begins that could need the old ones.
	mu    sync.Mutex
	calls map[string]int // asynchronous ones on their way to acceptance, by model
}

func newCatalogs(c *catalog) *catalogs {
	o := &catalogs{calls: make(map[string]int)}
	o.current.Store(c)
	return o
}

// trackCall registers an asynchronous call on its way to acceptance, before it looks its model
// up, until leave is called. By then the store counts the generation, if it was accepted.
func (o *catalogs) trackCall(model string) (leave func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls[model]++
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.calls[model]--; o.calls[model] == 0 {
			delete(o.calls, model)
		}
	}
}

// Models lists the models on offer, with the prices for DefaultAccountType; it needs no user. A model whose Model.Price
// fails is left out. The error is that of ctx.
func (e *Engine) Models(ctx context.Context) ([]imagegen.ModelInfo, error) {
	return e.As("").Models(ctx)
}

// PriceList is what was on offer at one moment, as a user sees it. SetModels does not change it.
type PriceList struct {
	Revision    uint64 // increases whenever SetModels replaces the models
	AccountType string // by which the list goes; "": it is the same for all
	ByUser      bool   // it also goes by who asks: a model has a function Price, or limits name models

	session *Session
	view    view
	catalog *catalog
}

// view says which models somebody sees, and can name.
type view struct {
	accountType string
	limits      [2]imagegen.KeyLimits // of the API key and of the member
}

// sees reports whether a model is one of these.
func (v view) sees(m Model) bool {
	return (len(m.OnlyFor) == 0 || slices.Contains(m.OnlyFor, v.accountType)) &&
		v.limits[0].AllowModel(m.ID) && v.limits[1].AllowModel(m.ID)
}

// isLimited reports whether limits hide models.
func (v view) isLimited() bool { return len(v.limits[0].Models)+len(v.limits[1].Models) > 0 }

// listedFor is listed as somebody sees it.
func (c *catalog) listedFor(v view) (infos []imagegen.ModelInfo) {
	for _, info := range c.listed {
		if v.sees(c.entries[info.ID].Model) {
			infos = append(infos, info)
		}
	}
	return infos
}

// view returns what the session sees of the models.
func (s *Session) view(ctx context.Context) (view, error) {
	if s.user == "" {
		return view{accountType: imagegen.DefaultAccountType}, nil
	}
	u, err := s.lookedUp(ctx)
	return s.viewOf(u), imagegen.ToUserError(err)
}

// viewOf is view for the user of the session, which was looked up.
func (s *Session) viewOf(u imagegen.User) view {
	return view{u.AccountType, [2]imagegen.KeyLimits{s.limits, u.Limits}}
}

// PriceList returns what is on offer now. A cache of Models can go by its fields.
func (s *Session) PriceList(ctx context.Context) (PriceList, error) {
	c := s.engine.catalogs.current.Load()
	v, err := s.view(ctx)
	l := PriceList{Revision: c.revision, ByUser: v.isLimited(), session: s, view: v, catalog: c}
	for _, m := range c.entries {
		if m.pricesVary() || len(m.OnlyFor) > 0 {
			l.AccountType = v.accountType
		}
		l.ByUser = l.ByUser || m.Price != nil
	}
	return l, err
}

// Models lists the models as [Session.Models] does.
func (l PriceList) Models(ctx context.Context) ([]imagegen.ModelInfo, error) {
	infos := []imagegen.ModelInfo{}
	for _, info := range l.catalog.listedFor(l.view) {
		priced, err := l.session.engine.pricedInfo(ctx, l.catalog.entries[info.ID], l.session.user, l.AccountType)
		switch {
		case err == nil:
			infos = append(infos, priced)
		case ctx.Err() != nil:
			return nil, err
		}
	}
	return infos, nil
}

// SetModels replaces all models. Later calls see the new ones. Running work keeps its
// provider and its price. Queued work keeps its price; its next attempt is made by the
// provider that its model then has.
//
// After an error nothing has changed. The error names everything that is wrong with the
// models, or contains a [*ModelInUseError] for each model that accepted work still needs:
// an asynchronous generation that waits or runs needs its model, retired or not, with all
// Model.Upstreams that it had. SetModels finds such work only if the Store is an
// [imagegen.Inspector]; otherwise no model and no upstream can be dropped
// ([errors.ErrUnsupported]).
//
// SetModels does not notice work that other engines on the same Store accept meanwhile. To drop
// a model, first retire it in all engines, one after the other, and then drop it.
//
// It is safe for concurrent use. New asynchronous calls wait while SetModels asks the Store; ctx
// bounds that.
func (e *Engine) SetModels(ctx context.Context, models []Model) error {
	next, err := newCatalog(models, e.cfg)
	if err != nil {
		return err
	}
	o := e.catalogs
	o.mu.Lock()
	defer o.mu.Unlock()
	former := o.current.Load()
	if err := e.mayReplace(ctx, former, next); err != nil {
		return err
	}
	next.revision = former.revision + 1
	makers := maps.Clone(former.providerNames)
	maps.Copy(makers, next.providerNames)
	next.providerNames = makers
	o.current.Store(next)
	e.slots.SetMost(next.maxAtOnce(e.cfg.Limits.Concurrency, e.cfg.Nodes))
	return nil
}

// ModelInUseError says that a model cannot be dropped or changed, since accepted work needs it.
type ModelInUseError struct {
	Model   string
	Dropped bool // true: the new models lack the model; false: they lack one of its Upstreams
	Count   int  // how many generations need it
}

// Error returns the message for an operator.
func (e *ModelInUseError) Error() string {
	change := "cannot change its provider's type, address or account"
	if e.Dropped {
		change = "cannot be dropped"
	}
	return fmt.Sprintf("model %q %s: accepted generations need it: %d; let them end, with the model retired meanwhile",
		e.Model, change, e.Count)
}

// mayReplace returns why accepted work forbids to replace one set of models with another;
// nil if it does not.
func (e *Engine) mayReplace(ctx context.Context, former, next *catalog) error {
	lost := former.missingFrom(next)
	if len(lost) == 0 {
		return nil
	}
	needs, err := e.neededModels(ctx, func(imagegen.Record) bool { return true })
	if err != nil {
		return fmt.Errorf("imagegen: it could not be determined whether accepted work needs model %q unchanged: %w",
			lost[0].Model, err)
	}
	var errs []error
	for _, l := range lost {
		if l.Count = needs[l.Model] + e.catalogs.calls[l.Model]; l.Count > 0 {
			errs = append(errs, l)
		}
	}
	return errors.Join(errs...)
}

// missingFrom lists the models that next lacks, or of which next lacks an upstream.
func (c *catalog) missingFrom(next *catalog) (lost []*ModelInUseError) {
	for _, info := range c.all {
		m, stays := next.entries[info.ID]
		missing := func(upstream string) bool { return !slices.Contains(m.upstreams(), upstream) }
		if !stays || slices.ContainsFunc(c.entries[info.ID].upstreams(), missing) {
			lost = append(lost, &ModelInUseError{Model: info.ID, Dropped: !stays})
		}
	}
	return lost
}

// Unservable counts, by model, the accepted generations that this engine cannot make: it does not
// have their model, or not the upstream that has begun their job. They wait for an engine that can,
// and are refunded at Config.Attempts.MaxAge. [errors.ErrUnsupported]: the Store is no
// [imagegen.Inspector].
func (e *Engine) Unservable(ctx context.Context) (map[string]int, error) {
	entries := e.catalogs.current.Load().entries
	return e.neededModels(ctx, func(r imagegen.Record) bool {
		m, has := entries[r.Model]
		return !has || !m.resumes(r)
	})
}

// neededModels counts, by model, the generations that count and for which there may be another
// attempt.
func (e *Engine) neededModels(ctx context.Context, counts func(imagegen.Record) bool) (map[string]int, error) {
	const page = 1000
	needs := make(map[string]int)
	var after imagegen.GenerationID
	for {
		records, _, err := e.Unsettled(ctx, after, page)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			// Synchronous work holds its provider, and is not tried again.
			if r.Async && r.State != imagegen.StateSettling && counts(r) {
				needs[r.Model]++
			}
			after = r.ID
		}
		if len(records) < page {
			return needs, nil
		}
	}
}
