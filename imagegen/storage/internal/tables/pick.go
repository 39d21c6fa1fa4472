package tables

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// waiting is a record that is due.
type waiting struct {
	model string
	fresh bool
	id    imagegen.GenerationID
}

// dueOf returns up to n records of a user and a model that are due, the first first.
func dueOf(tx kv.Tx, user, model []byte, n int) (records []waiting) {
	of := slices.Concat(user, model, []byte{0})
	tx.Keys(due, of, func(key []byte) bool {
		if !bytes.HasPrefix(key, of) || len(records) == n {
			return false
		}
		_, model, fresh, id := ofDue(key)
		records = append(records, waiting{string(model), fresh, id})
		return true
	})
	return records
}

// candidate is a user whose work may be claimed.
type candidate struct {
	user   []byte
	turn   uint64
	held   int
	models [][]byte
	due    []waiting // of these, the first first; nil: not looked up
}

// lookUp finds up to n records of each model.
func (c *candidate) lookUp(tx kv.Tx, n int) error {
	for _, m := range c.models {
		due := dueOf(tx, c.user, m, n)
		if len(due) == 0 {
			return errTurns
		}
		c.due = append(c.due, due...)
	}
	slices.SortFunc(c.due, func(a, b waiting) int { return cmp.Or(order(a.fresh, b.fresh), cmp.Compare(a.id, b.id)) })
	return nil
}

// next is the first record of a candidate whose model has a place.
func (c *candidate) next(d imagegen.Demand) (w waiting, ok bool) {
	i := slices.IndexFunc(c.due, func(w waiting) bool { return hasPlace(d, w.model) })
	if i < 0 {
		return waiting{}, false
	}
	w = c.due[i]
	c.due = slices.Delete(c.due, i, i+1)
	return w, true
}

func hasPlace(d imagegen.Demand, model string) bool {
	places, few := d.Places[model]
	return !few || places > 0
}

func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// pick chooses the records to claim, in their order.
func (t *Tables) pick(tx kv.Tx, d imagegen.Demand) (ids []imagegen.GenerationID) {
	look := func() (err error) {
		ids, err = pick(tx, d)
		return err
	}
	if t.mendTurns(tx, look) {
		ids, _ = pick(tx, d)
	}
	return ids
}

// pick finds errTurns where somebody has a turn that is not theirs, or for nothing.
func pick(tx kv.Tx, d imagegen.Demand) (ids []imagegen.GenerationID, err error) {
	d.Places = maps.Clone(d.Places)
	queue, err := candidates(tx, d)
	for err == nil && len(ids) < d.Most && len(queue) > 0 {
		i := fewest(queue)
		c := queue[i]
		queue = slices.Delete(queue, i, i+1)
		if c.due == nil {
			if err = c.lookUp(tx, d.Most); err != nil {
				return nil, err
			}
		}
		w, ok := c.next(d)
		if !ok {
			continue
		}
		ids = append(ids, w.id)
		if _, few := d.Places[w.model]; few {
			d.Places[w.model]--
		}
		if c.held++; allows(d, c.held) {
			queue = append(queue, c)
		}
	}
	return ids, err
}

func allows(d imagegen.Demand, held int) bool { return d.Below == 0 || held < d.Below }

// candidates are the users who may get something, by their turns: of each model with places those from the
// front of its ring. Once there are enough who hold nothing, nobody behind them can. Whoever sees all rings
// to their ends sees as well whether somebody is missing.
func candidates(tx kv.Tx, d imagegen.Demand) ([]*candidate, error) {
	s := &survey{tx: tx, demand: d, of: make(map[string]*candidate)}
	for _, model := range modelsWaiting(tx) {
		if !hasPlace(d, string(model)) {
			s.more = true
		} else if err := s.ring(model); err != nil {
			return nil, err
		}
	}
	if !s.more && s.seen != linesDue(tx) {
		return nil, errTurns
	}
	slices.SortFunc(s.all, func(a, b *candidate) int { return cmp.Compare(a.turn, b.turn) })
	return s.all, nil
}

// survey goes through rings.
type survey struct {
	tx     kv.Tx
	demand imagegen.Demand
	all    []*candidate
	of     map[string]*candidate // by user
	seen   int
	more   bool // than was seen
}

// ring goes through that of a model from the front.
func (s *survey) ring(model []byte) (err error) {
	idle, of := 0, append(bytes.Clone(model), 0)
	s.tx.Ascend(ring, of, func(key, user []byte) bool {
		if !bytes.HasPrefix(key, of) {
			return false
		}
		if !bytes.Equal(s.tx.Get(turns, user), key[len(of):]) {
			err = errTurns
			return false
		}
		held := s.demand.Held[imagegen.UserID(bytes.TrimSuffix(user, []byte{0}))]
		if allows(s.demand, held) {
			s.add(user, turnOf(key), held, model)
		}
		if held == 0 {
			idle++
		}
		s.seen++
		s.more = s.more || idle >= s.demand.Most
		return idle < s.demand.Most
	})
	return err
}

func (s *survey) add(user []byte, turn uint64, held int, model []byte) {
	c := s.of[string(user)]
	if c == nil {
		c = &candidate{user: user, turn: turn, held: held}
		s.of[string(user)] = c
		s.all = append(s.all, c)
	}
	c.models = append(c.models, model)
}

// linesDue is how many entries the rings should have.
func linesDue(tx kv.Tx) (n int) {
	for _, user := range usersDue(tx) {
		n += len(modelsDue(tx, user))
	}
	return n
}

// fewest finds the first of those who hold the fewest slots.
func fewest(queue []*candidate) (first int) {
	for i, c := range queue {
		if c.held < queue[first].held {
			first = i
		}
	}
	return first
}
