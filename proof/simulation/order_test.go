package simulation_test

import (
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

// order is one request, however often it is sent, and all that was said about it.
type order struct {
	request imagegen.GenerateRequest
	at      time.Time // by the service's clock

	mu sync.Mutex
	witness.Order
	idAt   moment                      // when its identifier became known
	stages [stages]moment              // when an answer first showed that it had come so far
	shown  map[imagegen.ImageID]moment // before the end
	shared bool                        // its idempotency key is another order's too, which may be erased
}

// share notes that two orders have the same idempotency key.
func (o *order) share(other *order) {
	for _, one := range []*order{o, other} {
		one.mu.Lock()
		one.shared = true
		one.mu.Unlock()
	}
}

// moment orders what is heard; 0 is never.
type moment uint64

const stages = 3 // queued, processing, ended

func stageOf(s imagegen.Status) int {
	switch s {
	case imagegen.StatusQueued:
		return 0
	case imagegen.StatusProcessing:
		return 1
	}
	return stages - 1
}

var prices = map[imagegen.Tier]imagegen.Credits{imagegen.Tier1K: 1, imagegen.Tier2K: 2, imagegen.Tier4K: 4}

// price is that of one image; the world's policy goes by the quality alone.
func (o *order) price() imagegen.Credits {
	switch o.request.Quality {
	case imagegen.QualityMedium:
		return prices[imagegen.Tier2K]
	case imagegen.QualityHigh:
		return prices[imagegen.Tier4K]
	}
	return prices[imagegen.Tier1K]
}

func (o *order) knownID() imagegen.GenerationID {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ID
}

// images are those of an order that has ended.
func (o *order) images() []imagegen.Image {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.End == nil {
		return nil
	}
	return o.End.Images
}

func (o *order) toErase(e witness.Erasure) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.Erasure = max(o.Erasure, e)
}
