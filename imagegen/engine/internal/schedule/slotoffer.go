package schedule

import (
	"context"
	"maps"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// maxClaims is how many queued generations are claimed in one commit.
const maxClaims = 16

// offer is what the store's queue may take of the free slots; ok is false if nothing.
// first is the queue of callers that is served next, nil if nobody waits.
//
// If no caller competes, the queue may take the slots that are not kept or, once only kept ones
// are left, those, for users who hold none. If one does, it may take one slot, for a user who
// holds fewer than that caller, or as many if the queue's turn is older.
func (s *Slots) offer(now time.Time, first *callerQueue) (d imagegen.ClaimRequest, ok bool) {
	d.Most = min(s.free-s.kept, maxClaims)
	if d.Most <= 0 {
		d.Most, d.Below = min(s.free, maxClaims), 1
	}
	ok = d.Most > 0
	if first != nil && s.hasSlotFor(first.held) {
		d.Most, d.Below = 1, first.held
		if s.turn < first.turn {
			d.Below++
		}
		ok = d.Below > 0
	}
	d.Places = make(map[string]int)
	for model, p := range s.of {
		if p.offered {
			d.Places[model] = min(max(p.room(now), 0), d.Most)
		}
	}
	return d, ok
}

// give hands an offer to the queue, which receives it in ForQueue. Nobody else gets what it
// contains until Claimed. The channel has room for it, so give never blocks.
func (s *Slots) give(d imagegen.ClaimRequest, now time.Time) {
	d.Held = maps.Clone(s.held)
	s.free -= d.Most
	s.lent = d.Most
	for _, p := range s.of {
		p.lent = min(max(p.room(now), 0), d.Most)
	}
	s.asking <- d
	s.asking = nil
}

// takeBack ends an offer.
func (s *Slots) takeBack(d imagegen.ClaimRequest) {
	s.free += d.Most
	s.lent = 0
	for _, p := range s.of {
		p.lent = 0
	}
}

// ForQueue waits until slots can be offered to the queue. Claimed ends the offer and must be
// called after each; one goroutine does both. An error is that of ctx, and then nothing is
// lent.
func (s *Slots) ForQueue(ctx context.Context) (imagegen.ClaimRequest, error) {
	asking := make(chan imagegen.ClaimRequest, 1)
	s.mu.Lock()
	s.asking, s.better, s.called = asking, nil, false
	if s.turn == 0 {
		s.turn = s.nextTurn()
	}
	s.hand()
	s.mu.Unlock()
	select {
	case d := <-asking:
		return d, nil
	case <-ctx.Done():
		s.stopAsking(asking)
		return imagegen.ClaimRequest{}, ctx.Err()
	}
}

// stopAsking ends ForQueue when its context does. An offer that was just made is taken
// back.
func (s *Slots) stopAsking(asking <-chan imagegen.ClaimRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case d := <-asking:
		s.takeBack(d)
	default:
	}
	s.asking = nil
	s.hand()
}

// Claimed gives the slots of an offer to the users whose work was claimed; the rest is
// free again. better is closed when there is an offer for users or models that this one
// left out; it is nil if something was claimed.
func (s *Slots) Claimed(offered imagegen.ClaimRequest, records []imagegen.Record) (taken []Slot,
	better <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takeBack(offered)
	now := time.Now()
	for _, r := range records {
		taken = append(taken, s.takeSlot(r.Account(), r.Model, now))
	}
	if len(records) > 0 {
		s.turn = 0
	} else {
		s.refused, s.better, s.partial = offered, make(chan struct{}), offered.Below > 0 || hasFullModel(offered)
		better = s.better
	}
	s.hand()
	return taken, better
}

// tellQueue wakes the queue, which could use nothing of an offer, when there is a better
// one.
func (s *Slots) tellQueue(now time.Time) {
	if s.better == nil || !s.partial {
		return
	}
	if d, ok := s.offer(now, s.first(now)); ok && betters(d, s.refused) {
		s.callQueue()
	}
}

// callQueue wakes the queue.
func (s *Slots) callQueue() {
	if s.better != nil {
		close(s.better)
		s.better, s.called = nil, true
	}
}

// hasFullModel reports whether there is a model without a place.
func hasFullModel(d imagegen.ClaimRequest) bool {
	for _, places := range d.Places {
		if places <= 0 {
			return true
		}
	}
	return false
}

// betters reports whether d includes users or models that former did not.
func betters(d, former imagegen.ClaimRequest) bool {
	for model, places := range d.Places {
		if places > 0 && former.Places[model] <= 0 {
			return true
		}
	}
	return former.Below > 0 && (d.Below == 0 || d.Below > former.Below)
}
