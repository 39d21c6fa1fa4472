package simulation_test

import (
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// order is one request, however often it is sent, and all that was said about it.
type order struct {
	user    imagegen.UserID
	request imagegen.GenerateRequest // its prompt is nobody else's
	at      time.Time                // by the service's clock

	mu     sync.Mutex
	id     imagegen.GenerationID // told
	idAt   moment
	stages [stages]moment              // when it was first told to have come so far
	final  *imagegen.Generation        // told
	shown  map[imagegen.ImageID]moment // before the end
	doubt  bool                        // an answer did not come, or said that it does not know
	erase  erasure

	shared bool // its idempotency key is another order's too, which may be erased
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

// erasure is how far an erasure has come, as far as is known.
type erasure int

const (
	standing erasure = iota
	erasing          // asked for
	erased           // confirmed
)

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

func (o *order) told() imagegen.GenerationID {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.id
}

// images are those of an order that has ended.
func (o *order) images() []imagegen.Image {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.final == nil {
		return nil
	}
	return o.final.Images
}

func (o *order) toErase(s erasure) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.erase = max(o.erase, s)
}
