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

// catalogEntry is a model with what it offers.
type catalogEntry struct {
	Model
	can  imagegen.Capabilities // the provider's
	info imagegen.ModelInfo
}

// catalog is a set of models. It never changes.
type catalog struct {
	revision      uint64
	entries       map[string]catalogEntry // the retired ones too
	all           []imagegen.ModelInfo    // those of offers, in the order of the configuration
	listed        []imagegen.ModelInfo    // without the retired ones
	providerNames map[string]string       // the name of each model's provider, also of models that were dropped
}

// newCatalog names everything that is wrong with the models at once.
func newCatalog(models []Model) (*catalog, error) {
	c := &catalog{entries: make(map[string]catalogEntry, len(models)), providerNames: make(map[string]string, len(models))}
	var errs []error
	for _, m := range models {
		if _, taken := c.entries[m.ID]; taken || m.ID == "" {
			errs = append(errs, fmt.Errorf("imagegen: model identifiers must be present and differ; got %q", m.ID))
		}
		c.entries[m.ID] = catalogEntry{Model: m}
		if strings.ContainsRune(m.ID, 0) {
			errs = append(errs, fmt.Errorf("imagegen: the model identifier %q holds a NUL", m.ID))
		}
		if err := m.check(); err != nil {
			errs = append(errs, err)
			continue
		}
		can := m.Provider.Capabilities().WithDefaults()
		c.add(catalogEntry{m, can, m.info(can)})
	}
	errs = append(errs, checkAliases(models)...)
	return c, errors.Join(errs...)
}

// checkAliases tells of aliases that are empty, or the name or alias of a model already.
func checkAliases(models []Model) (errs []error) {
	taken := make(map[string]bool)
	for _, m := range models {
		taken[m.ID] = true
	}
	for _, m := range models {
		for _, a := range m.Aliases {
			if a == "" || strings.ContainsRune(a, 0) || taken[a] {
				errs = append(errs, fmt.Errorf("imagegen: model %q: the alias %q is no name, or taken by a model already", m.ID, a))
			}
			taken[a] = true
		}
	}
	return errs
}

func (c *catalog) add(m catalogEntry) {
	c.entries[m.ID], c.providerNames[m.ID] = m, m.info.Provider
	c.all = append(c.all, m.info)
	if !m.Retired {
		c.listed = append(c.listed, m.info)
	}
}

// upstreams tell what m.Provider asks from what other providers ask.
func (m Model) upstreams() []string {
	if m.Upstreams == nil {
		return []string{m.Provider.Name()}
	}
	return m.Upstreams
}

// resumes reports whether the model's provider is the one that saved the job of r.
func (m Model) resumes(r imagegen.Record) bool {
	saved := func(upstream string) bool { return slices.Contains(r.JobUpstreams, upstream) }
	return len(r.Job) == 0 || slices.ContainsFunc(m.upstreams(), saved)
}

// catalogs are the models of an engine. To read them takes no lock.
type catalogs struct {
	current atomic.Pointer[catalog]

	// mu is held while a new set is judged, so that meanwhile no work is accepted that could need the old one.
	mu    sync.Mutex
	calls map[string]int // asynchronous ones on their way to acceptance, by model
}

func newCatalogs(c *catalog) *catalogs {
	o := &catalogs{calls: make(map[string]int)}
	o.current.Store(c)
	return o
}

// begin notes a call on its way to acceptance, before it looks the model up.
func (o *catalogs) begin(model string) (leave func()) {
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

// Models lists the models on offer; it needs no user. The error is always nil: the signature is that
// of [Service].
func (e *Engine) Models(context.Context) ([]imagegen.ModelInfo, error) {
	listed := e.catalogs.current.Load().listed
	infos := make([]imagegen.ModelInfo, len(listed))
	for i, info := range listed {
		infos[i] = clone(info)
	}
	return infos, nil
}

// ModelsRevision rises whenever SetModels replaces the models: who keeps what Models returned asks for
// it first.
func (e *Engine) ModelsRevision() uint64 { return e.catalogs.current.Load().revision }

// SetModels replaces all models. Calls that come later see the new ones. What is under way keeps its
// provider and its price; asynchronous work keeps its price, and its next attempt is made by the provider
// that its model then has.
//
// With an error nothing has changed. It names everything that is wrong with the models, or is a
// [*ModelInUseError] for each that accepted work needs as it was: an asynchronous generation that waits
// or runs needs its model, retired or not, and a provider with all the Model.Upstreams that it had.
// To tell, the Store must be an [Inspector]; if it is none, no model can be dropped ([errors.ErrUnsupported]).
//
// What other engines accept over the same Store is not waited for: they are set one after the other, the
// model retired first.
//
// It is safe for concurrent use. Asynchronous calls wait while the Store is asked; ctx bounds that.
func (e *Engine) SetModels(ctx context.Context, models []Model) error {
	next, err := newCatalog(models)
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
	e.slots.SetMost(next.maxAtOnce(e.cfg.Concurrency, e.cfg.Nodes))
	return nil
}

// ModelInUseError says that accepted work needs a model as it is.
type ModelInUseError struct {
	Model   string
	Dropped bool // it is missing from the new models; else an upstream of its provider is
	Count   int  // of the generations that need it
}

func (e *ModelInUseError) Error() string {
	change := "cannot change its provider's type, address or account"
	if e.Dropped {
		change = "cannot be dropped"
	}
	return fmt.Sprintf("model %q %s: accepted generations need it: %d; let them end, with the model retired meanwhile", e.Model, change, e.Count)
}

// mayReplace returns why accepted work forbids to replace one set of models by another.
func (e *Engine) mayReplace(ctx context.Context, former, next *catalog) error {
	lost := former.missingFrom(next)
	if len(lost) == 0 {
		return nil
	}
	needs, err := e.neededModels(ctx)
	if err != nil {
		return fmt.Errorf("imagegen: whether work needs model %q as it is cannot be told: %w", lost[0].Model, err)
	}
	var errs []error
	for _, l := range lost {
		if l.Count = needs[l.Model] + e.catalogs.calls[l.Model]; l.Count > 0 {
			errs = append(errs, l)
		}
	}
	return errors.Join(errs...)
}

// missingFrom lists the models of which next lacks an upstream, or all.
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

// neededModels counts the generations for which there may be another attempt, by model.
func (e *Engine) neededModels(ctx context.Context) (map[string]int, error) {
	const page = 1000
	needs := make(map[string]int)
	var after imagegen.GenerationID
	for {
		records, _, err := e.Unsettled(ctx, after, page)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			if r.Async && r.State != imagegen.StateSettling { // synchronous work holds its provider, and is not tried again
				needs[r.Model]++
			}
			after = r.ID
		}
		if len(records) < page {
			return needs, nil
		}
	}
}
