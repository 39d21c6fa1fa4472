package model_test

import (
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// happening is something that the engine did, seen from outside.
type happening struct {
	at     time.Time
	kind   kind
	order  *order                 // accepted, answered
	id     imagegen.GenerationID  // accepted, shown, settled
	images []imagegen.StoredImage // shown
	failed bool                   // settled
	call   *upcall                // begun, left
	result imagegen.Result        // answered
	err    error                  // answered, left
}

type kind string

const (
	accepted kind = "accepted" // charged, and reported to Config.Observer
	shown    kind = "shown"    // images were made visible before the end
	settled  kind = "settled"  // the same of its end
	begun    kind = "begun"    // the provider was called
	left     kind = "left"     // the provider returned
	answered kind = "answered" // Generate returned
)

// diary is what happened since it was read last, in order.
type diary struct {
	mu    sync.Mutex
	lines []happening
	calls int // of the provider
}

// stagger is another short time for each call.
func (d *diary) stagger() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	return time.Duration(d.calls) * time.Microsecond
}

func (d *diary) write(h happening) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h.at = time.Now()
	d.lines = append(d.lines, h)
}

func (d *diary) read() []happening {
	d.mu.Lock()
	defer d.mu.Unlock()
	lines := d.lines
	d.lines = nil
	return lines
}

// inOrder puts what was charged before what was made of it. The engine tells of a charge when the
// commit is done, and by then the queue may have handed the work out.
func inOrder(lines []happening) []happening {
	for i, h := range lines {
		if h.kind != begun {
			continue
		}
		event := slices.IndexFunc(lines[i:], func(l happening) bool {
			return l.kind == accepted && l.id == imagegen.GenerationID(h.call.Key)
		})
		if event > 0 {
			late := lines[i+event]
			lines = slices.Insert(slices.Delete(lines, i+event, i+event+1), i, late)
		}
	}
	return lines
}
