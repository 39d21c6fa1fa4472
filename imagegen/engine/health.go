package engine

import (
	"errors"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// ProviderHealth is the result of the last attempt of this engine with a model. Attempts that
// ended because the engine stopped or lost the lease do not count.
type ProviderHealth struct {
	Model    string
	Provider string
	At       time.Time               // when that attempt ended; zero: there was none yet, and Healthy is false
	Healthy  bool                    // it delivered images without an error, or the request was at fault
	Detail   string                  // why it is not Healthy, for an operator
	Load     ModelLoad               // the current load
	Members  []imagegen.MemberHealth // of a provider that is an imagegen.HealthReporter
}

// Health returns the health of the provider of each model, including retired ones, in the
// order of the configuration. It is cheap and calls no upstream.
func (e *Engine) Health() []ProviderHealth {
	models := e.catalogs.current.Load()
	all := make([]ProviderHealth, len(models.all))
	for i, info := range models.all {
		all[i] = e.health.of(info.ID)
		all[i].Model, all[i].Provider, all[i].Load = info.ID, info.Provider, e.slots.Load(info.ID)
		if r, ok := models.entries[info.ID].Provider.(imagegen.HealthReporter); ok {
			all[i].Members = r.Health()
		}
	}
	return all
}

// health remembers how the last attempt with each model ended.
type health struct {
	mu   sync.Mutex                // guards last
	last map[string]ProviderHealth // by model
}

func (h *health) of(model string) ProviderHealth {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last[model]
}

// noteAttempt remembers how an attempt ended, unless that says nothing about the provider, as when images
// could not be stored.
func (h *health) noteAttempt(model string, delivered int, err error, at time.Time) {
	if errors.Is(err, imagegen.ErrStopping) || errors.Is(err, imagegen.ErrStale) {
		return
	}
	p, ok := errors.AsType[*imagegen.ProviderError](err)
	if ok && p.Class == imagegen.ClassStorage {
		return
	}
	now := ProviderHealth{At: at, Healthy: err == nil && delivered > 0}
	switch {
	case ok && p.Class.RequestAtFault():
		now.Healthy = true
	case err != nil:
		now.Detail = err.Error()
	case delivered == 0:
		now.Detail = "it delivered no image"
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last[model] = now
}
