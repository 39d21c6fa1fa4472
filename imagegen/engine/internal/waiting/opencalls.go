package waiting

import (
	"slices"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// openCalls are the synchronous calls that an equal call may join: their work runs in
// this process, or their answer has not been received yet.
//
// A call is here from its acceptance until its work has failed, its answer was received, or the store has the mark that
// nobody received it, which is then what an equal call finds. The methods decide under mu what the store must note, and
// the Room writes that without mu. So setMarked and received look again whether it still holds.
type openCalls struct {
	mu     sync.Mutex // guards everything here, and the fields of each openCall
	byID   map[imagegen.GenerationID]*openCall
	byKey  map[[32]byte][]*openCall // by JoinKey, oldest first
	hungUp chan struct{}            // closed when a caller hangs up
}

// openCall is one of them.
type openCall struct {
	record   imagegen.Record // as it was accepted; once ended, as it then stood
	callers  int             // that wait for the answer; 0: an equal call may join
	ended    bool            // it succeeded
	marking  int             // how many callers of the Room are about to mark it in the store
	marked   bool            // it is marked in the store
	received bool            // somebody has received it; the mark in the store is about to be removed
}

func newOpenCalls() *openCalls {
	return &openCalls{byID: make(map[imagegen.GenerationID]*openCall), byKey: make(map[[32]byte][]*openCall),
		hungUp: make(chan struct{})}
}

// Accepted adds a call with its caller, so that others may join it, unless it has no JoinKey.
func (o *openCalls) Accepted(r imagegen.Record) {
	if r.JoinKey == ([32]byte{}) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.addCall(&openCall{record: r, callers: 1})
}

// addStored adds a call that the store knows, together with the caller who joins it. It
// returns false if the call is already here.
func (o *openCalls) addStored(r imagegen.Record) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byID[r.ID] != nil {
		return false
	}
	o.addCall(&openCall{record: r, callers: 1, ended: r.Terminal(), marked: true})
	return true
}

func (o *openCalls) addCall(c *openCall) {
	o.byID[c.record.ID] = c
	o.byKey[c.record.JoinKey] = append(o.byKey[c.record.JoinKey], c)
}

// join takes the place of a caller who hung up; "" if there is none. left is closed when the
// next caller hangs up, of whichever call.
func (o *openCalls) join(key [32]byte) (id imagegen.GenerationID, left <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.byKey[key] {
		if c.callers == 0 {
			c.callers++
			return c.record.ID, o.hungUp
		}
	}
	return "", o.hungUp
}

// joinOnly joins the call with that key if there is exactly one, even though its caller
// seems to be there.
func (o *openCalls) joinOnly(key [32]byte) imagegen.GenerationID {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.byKey[key]) != 1 {
		return ""
	}
	c := o.byKey[key][0]
	c.callers++
	return c.record.ID
}

// left are the calls without a caller that have not ended, as far as is known here.
func (o *openCalls) left() (ids []imagegen.GenerationID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, c := range o.byID {
		if c.callers == 0 && !c.ended {
			ids = append(ids, id)
		}
	}
	return ids
}

// Knows reports whether the caller of a generation is known here, whether or not they hung up.
func (o *openCalls) Knows(id imagegen.GenerationID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.byID[id] != nil
}

// Abandoned reports whether all callers of a generation have hung up.
func (o *openCalls) Abandoned(id imagegen.GenerationID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.byID[id]
	return c != nil && c.callers == 0
}

// hangUp removes one caller. mark is set if none is left: the Room must mark the answer in the store.
func (o *openCalls) hangUp(id imagegen.GenerationID) (r imagegen.Record, mark bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.byID[id]
	if c == nil {
		return imagegen.Record{}, false
	}
	c.callers--
	close(o.hungUp)
	o.hungUp = make(chan struct{})
	return c.record, o.needsMark(c)
}

// endCall records how the generation ended. A failed one cannot be joined. mark is as for
// hangUp.
func (o *openCalls) endCall(r imagegen.Record) (mark bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.byID[r.ID]
	if c == nil {
		return false
	}
	if r.State != imagegen.StateSucceeded {
		o.remove(c)
		return false
	}
	c.record, c.ended, c.marked = r, true, r.Undelivered
	return o.needsMark(c)
}

// needsMark reports whether the store must note that nobody waits for an answer: the
// caller does so, and then calls setMarked.
func (o *openCalls) needsMark(c *openCall) bool {
	if c.callers > 0 || !c.ended {
		return false
	}
	if c.marked {
		o.leaveToStore(c)
		return false
	}
	c.marking++
	return true
}

// leaveToStore forgets a call without callers that the store knows of, unless somebody is
// about to tell the store once more: setMarked would take its absence for an answer that
// was received.
func (o *openCalls) leaveToStore(c *openCall) {
	if c.callers == 0 && c.marking == 0 {
		o.remove(c)
	}
}

// setMarked notes that the store has the mark. received reports that the mark is outdated: an
// equal call got the answer meanwhile.
func (o *openCalls) setMarked(id imagegen.GenerationID) (received bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.byID[id]
	if c == nil || c.received {
		return true
	}
	c.marking--
	c.marked = true
	o.leaveToStore(c)
	return false
}

// received removes a call whose answer has arrived. unmark is set if the store must first
// lose its mark.
func (o *openCalls) received(id imagegen.GenerationID) (r imagegen.Record, unmark bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.byID[id]
	if c == nil {
		return imagegen.Record{}, false
	}
	if c.received = true; !c.marked {
		o.remove(c)
	}
	return c.record, c.marked
}

// Forget removes a call that nobody can join, also after received had to unmark it.
func (o *openCalls) Forget(id imagegen.GenerationID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c := o.byID[id]; c != nil {
		o.remove(c)
	}
}

func (o *openCalls) remove(c *openCall) {
	key := c.record.JoinKey
	delete(o.byID, c.record.ID)
	o.byKey[key] = slices.DeleteFunc(o.byKey[key], func(other *openCall) bool { return other == c })
	if len(o.byKey[key]) == 0 {
		delete(o.byKey, key)
	}
}
