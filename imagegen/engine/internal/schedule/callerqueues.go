package schedule

import (
	"cmp"
	"container/heap"
	"container/list"

	"github.com/imagegend/imagegend/imagegen"
)

// callerQueues are the callers who wait for a slot and a place of one model, in one queue
// for each user. The first queue is that of the user who holds the fewest slots; among
// equals, the one with the lowest turn.
type callerQueues struct {
	model   string
	callers int
	of      map[imagegen.UserID]*callerQueue
	order   queueHeap
}

// callerQueue is the queue of one user. It exists only while somebody waits in it.
type callerQueue struct {
	user    imagegen.UserID
	model   string
	held    int // slots
	turn    uint64
	waiting list.List // of *waiter
	index   int       // in order
}

// waiter is a caller who waits.
type waiter struct {
	slot  Slot          // that is waited for; its own once ready
	place *list.Element // in the line; nil once out of it
	ready chan struct{}
}

func newCallerQueues(model string) callerQueues {
	return callerQueues{model: model, of: make(map[imagegen.UserID]*callerQueue)}
}

// join adds a caller to the end of the user's queue. A queue that begins takes a turn.
func (ls *callerQueues) join(u imagegen.UserID, held int, turn func() uint64) *waiter {
	l := ls.of[u]
	if l == nil {
		l = &callerQueue{user: u, model: ls.model, held: held, turn: turn()}
		ls.of[u] = l
		heap.Push(&ls.order, l)
	}
	w := &waiter{slot: Slot{user: u, model: ls.model}, ready: make(chan struct{})}
	w.place = l.waiting.PushBack(w)
	ls.callers++
	return w
}

// first is the queue that is served next; nil if nobody waits.
func (ls *callerQueues) first() *callerQueue {
	if len(ls.order) == 0 {
		return nil
	}
	return ls.order[0]
}

// takeFirst takes the first caller out of a queue, which takes another turn.
func (ls *callerQueues) takeFirst(l *callerQueue, turn func() uint64) *waiter {
	w := l.waiting.Front().Value.(*waiter)
	l.turn = turn()
	heap.Fix(&ls.order, l.index)
	ls.remove(w)
	return w
}

// remove takes a caller out of the queue, and reports whether they were in it.
func (ls *callerQueues) remove(w *waiter) bool {
	if w.place == nil {
		return false
	}
	l := ls.of[w.slot.user]
	l.waiting.Remove(w.place)
	w.place = nil
	ls.callers--
	if l.waiting.Len() == 0 {
		heap.Remove(&ls.order, l.index)
		delete(ls.of, w.slot.user)
	}
	return true
}

// moved updates how many slots a user holds.
func (ls *callerQueues) moved(u imagegen.UserID, held int) {
	if l := ls.of[u]; l != nil {
		l.held = held
		heap.Fix(&ls.order, l.index)
	}
}

// before reports whether l is served before o.
func (l *callerQueue) before(o *callerQueue) bool {
	return cmp.Or(cmp.Compare(l.held, o.held), cmp.Compare(l.turn, o.turn)) < 0
}

// queueHeap implements heap.Interface, with the queue that is served next at the top.
type queueHeap []*callerQueue

func (h queueHeap) Len() int           { return len(h) }
func (h queueHeap) Less(i, j int) bool { return h[i].before(h[j]) }
func (h queueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *queueHeap) Push(x any) {
	l := x.(*callerQueue)
	l.index = len(*h)
	*h = append(*h, l)
}
func (h *queueHeap) Pop() any {
	l := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = nil
	*h = (*h)[:len(*h)-1]
	return l
}
