package simulation_test

import (
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// excuses are what may be left lying: it was to be removed, and the storage failed then, or who was
// to remove it has died. The default storage removes it at its next start.
type excuses struct {
	mu       sync.Mutex
	attempts map[imagegen.Fence]bool
	spool    map[imagegen.ReferenceID]bool
}

func newExcuses() *excuses {
	return &excuses{attempts: map[imagegen.Fence]bool{}, spool: map[imagegen.ReferenceID]bool{}}
}

func (e *excuses) images(g imagegen.GenerationID, attempt int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.attempts[imagegen.Fence{ID: g, Attempt: attempt}] = true
}

func (e *excuses) spooled(ids ...imagegen.ReferenceID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range ids {
		e.spool[id] = true
	}
}

func (e *excuses) references(files []imagegen.ReferenceFile) {
	for _, f := range files {
		e.spooled(f.ID)
	}
}

func (e *excuses) forImage(k imagegen.ImageKey) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.attempts[imagegen.Fence{ID: k.Generation, Attempt: k.Attempt}]
}

func (e *excuses) forSpooled(id imagegen.ReferenceID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.spool[id]
}
