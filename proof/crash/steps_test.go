package crash_test

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// fault is what happens at a step.
type fault string

const (
	refuses   fault = "refused" // nothing is done, and the answer says so
	fails     fault = "fails"   // nothing is done, and the answer leaves that open
	loses     fault = "lost"    // it is done, and the answer leaves that open
	dies      fault = "dies"    // the process dies before it
	diesLate  fault = "dies-after"
	halts     fault = "halts" // the process stands still before it, while another takes over, and then goes on
	haltsLate fault = "halts-after"
)

// standstill is how long a process stands still: leases end meanwhile.
const standstill = 5 * time.Minute

var (
	errFault = errors.New("the outcome is unknown")
	errDead  = errors.New("the process is gone")
)

// steps numbers the calls of one process, and knows at which of them something happens.
type steps struct {
	mu     sync.Mutex
	at     int // 0: nowhere
	kind   fault
	n      int
	sealed bool
	dead   bool
	died   chan struct{}
	until  time.Time     // it stands still
	halted chan struct{} // closed when it does
	name   string        // of the step at which it happened
}

func newSteps(at int, kind fault) *steps {
	return &steps{at: at, kind: kind, died: make(chan struct{}), halted: make(chan struct{})}
}

// next counts a call and returns what happens at it; "" for nothing.
func (s *steps) next(name string) (fault, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		return "", errDead
	}
	if s.sealed {
		return "", nil
	}
	if s.n++; s.n != s.at {
		return "", nil
	}
	s.name = name
	return s.kind, nil
}

func (s *steps) die() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dead {
		s.dead = true
		close(s.died)
	}
}

func (s *steps) halt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = time.Now().Add(standstill)
	close(s.halted)
}

// stand waits while the process stands still.
func (s *steps) stand() {
	s.mu.Lock()
	until := s.until
	s.mu.Unlock()
	time.Sleep(time.Until(until))
}

// stood reports whether the process has stood still.
func (s *steps) stood() bool {
	select {
	case <-s.halted:
		return true
	default:
		return false
	}
}

// gone reports whether the process has died: then nobody hears what it says.
func (s *steps) gone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dead
}

// taken is how many steps there were.
func (s *steps) taken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// seal ends the numbering, and reports whether the number was reached.
func (s *steps) seal() (reached bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed = true
	return s.name != ""
}

// step makes a call, or what is planned instead.
func step[T any](s *steps, name string, do func() (T, error)) (T, error) {
	var none T
	s.stand()
	kind, err := s.next(name)
	if err != nil {
		return none, err
	}
	switch kind {
	case refuses:
		return none, fmt.Errorf("%w: as planned", imagegen.ErrNotApplied)
	case fails:
		return none, errFault
	case dies:
		s.die()
		return none, errDead
	case halts:
		s.halt()
		s.stand()
	}
	v, err := do()
	switch {
	case kind == haltsLate:
		s.halt()
		s.stand()
	case kind == diesLate:
		s.die()
		return none, errDead
	case s.gone():
		return none, errDead
	case kind == loses && err == nil:
		return none, errFault
	}
	return v, err
}

// act is a step without a result.
func act(s *steps, name string, do func() error) error {
	_, err := step(s, name, func() (struct{}, error) { return struct{}{}, do() })
	return err
}
