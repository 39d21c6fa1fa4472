package transfer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen/storage/transfer/internal/pagesize"
)

// Step is what a move does at the moment.
type Step string

// The steps, in order. A move that goes on leaves out what it has done.
const (
	auditing  Step = "auditing the source"
	copying   Step = "copying"
	comparing Step = "comparing"
	proving   Step = "auditing the target"
)

// Progress is how far a move is, in this process.
type Progress struct {
	Step  Step
	Rows  int // copied, or compared
	Files int // images and reference images copied
}

// Errors of Run, for errors.Is; and ErrMoved.
var (
	// ErrNotEmpty: the target holds something that is not of this move.
	ErrNotEmpty = errors.New("transfer: the target holds something already")
	// ErrUnsound: an audit found something, or both ends do not hold the same.
	ErrUnsound = errors.New("transfer: nothing was moved for good")
)

// Run moves everything from one storage into another, which is empty, or goes on with that. The source is audited
// first; from then on it is not opened for anything else. At last both are compared row by row and the target is
// audited, with every image; only then is the source marked as moved, and the target can be used. tell, which may be
// nil, is told of the progress.
//
// ErrMoved, ErrNotEmpty, ErrUnsound.
func Run(ctx context.Context, from, to End, tell func(Progress)) error {
	m := &move{from: side{End: from}, to: side{End: to}, tell: tell}
	if m.tell == nil {
		m.tell = func(Progress) {}
	}
	copied, err := m.begin(ctx)
	if err != nil {
		return err
	}
	if !copied {
		for _, step := range []func(context.Context) error{m.copy, m.compare, m.prove} {
			if err := step(ctx); err != nil {
				return err
			}
		}
		if err := m.from.set(ctx, m.mark(Left)); err != nil {
			return err
		}
	}
	return m.to.set(ctx, Mark{})
}

// GiveUp has a source be used as before whose move has not ended. The target is worthless then.
func GiveUp(ctx context.Context, from End) error {
	m, err := from.Mark(ctx)
	switch {
	case err != nil:
		return err
	case m.State == Leaving:
		return from.SetMark(ctx, m, Mark{})
	case m.State == Ordinary:
		return fmt.Errorf("transfer: %s is not being moved", from.Name)
	}
	return m.Refusal(from.Name)
}

type move struct {
	from, to side
	tell     func(Progress)
	progress Progress
	id       string
	at       Place // of the last row that the target has
}

// side is an end with the mark that this process has read or set there last.
type side struct {
	End
	mark Mark
}

func (s *side) read(ctx context.Context) (err error) {
	s.mark, err = s.Mark(ctx)
	return err
}

func (s *side) set(ctx context.Context, m Mark) error {
	if err := s.SetMark(ctx, s.mark, m); err != nil {
		return err
	}
	s.mark = m
	return nil
}

func (m *move) mark(s State) Mark {
	other := m.to.Name
	if s == Arriving {
		other = m.from.Name
	}
	return Mark{State: s, Move: m.id, Other: other, Since: time.Now().UTC(), At: m.at}
}

// begin marks both ends, or finds the marks of a move that was broken off. copied: all is there but the last mark.
func (m *move) begin(ctx context.Context) (copied bool, err error) {
	if err := m.from.read(ctx); err != nil {
		return false, err
	}
	if err := m.to.read(ctx); err != nil {
		return false, err
	}
	source, target := m.from.mark, m.to.mark
	m.id, m.at = target.Move, target.At
	same := target.State == Arriving && target.Move == source.Move
	switch {
	case source.State == Left && same:
		return true, nil
	case source.State == Leaving && same && m.at.Bucket != "":
		return false, nil
	case source.State == Leaving && same:
		return false, m.audit(ctx)
	case source.State != Ordinary:
		return false, source.Refusal(m.from.Name)
	}
	return false, m.anew(ctx)
}

// anew marks both ends of a move that begins.
func (m *move) anew(ctx context.Context) error {
	if s := m.to.mark.State; s != Ordinary && (s != Arriving || m.at.Bucket != "") {
		return fmt.Errorf("%w: %s has a part of another move; name an empty one", ErrNotEmpty, m.to.Name)
	}
	rows, err := m.to.Rows(ctx, Place{}, 1)
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		return fmt.Errorf("%w: %s; name an empty one", ErrNotEmpty, m.to.Name)
	}
	m.id = rand.Text()
	if err := m.to.set(ctx, m.mark(Arriving)); err != nil {
		return err
	}
	if err := m.from.set(ctx, m.mark(Leaving)); err != nil {
		return err
	}
	return m.audit(ctx)
}

// audit looks at the source before anything of it is copied. One that is not sound stays in use.
func (m *move) audit(ctx context.Context) error {
	m.step(auditing)
	err := clean(ctx, m.from.End)
	if errors.Is(err, ErrUnsound) {
		return errors.Join(err, m.from.set(ctx, Mark{}))
	}
	return err
}

func (m *move) step(s Step) {
	m.progress.Step = s
	m.tell(m.progress)
}

// copy reads a page and copies its files while the target takes the page before.
func (m *move) copy(ctx context.Context) error {
	m.step(copying)
	c := copier{from: files{m.from.Images, m.from.Spool}, to: files{m.to.Images, m.to.Spool}}
	for p := range pages(ctx, m.from, m.at, func(ctx context.Context, rows []Row) ([]file, error) {
		all, err := filesOf(rows)
		if err != nil {
			return nil, err
		}
		return all, c.copy(ctx, all)
	}) {
		if p.err != nil {
			return p.err
		}
		m.at = p.rows[len(p.rows)-1].Place
		mark := m.mark(Arriving)
		if err := m.to.Take(ctx, p.rows, m.to.mark, mark); err != nil {
			return err
		}
		m.to.mark = mark
		m.progress.Rows, m.progress.Files = m.progress.Rows+len(p.rows), m.progress.Files+len(p.files)
		m.tell(m.progress)
	}
	return nil
}

// compare holds the rows of both ends against each other.
func (m *move) compare(ctx context.Context) error {
	m.progress.Rows = 0
	m.step(comparing)
	for at := (Place{}); ; {
		var here []Row
		var wrong error
		var reading sync.WaitGroup
		reading.Go(func() { here, wrong = m.to.Rows(ctx, at, pagesize.Rows) })
		there, err := m.from.Rows(ctx, at, pagesize.Rows)
		reading.Wait()
		if err := errors.Join(err, wrong); err != nil {
			return err
		}
		if err := m.differ(there, here); err != nil || len(there) == 0 {
			return err
		}
		at = there[len(there)-1].Place
		m.progress.Rows += len(there)
		m.tell(m.progress)
	}
}

// differ returns an ErrUnsound unless two pages are the same.
func (m *move) differ(there, here []Row) error {
	for i := range max(len(there), len(here)) {
		switch {
		case i < len(there) && (i == len(here) || there[i].compare(here[i].Place) < 0):
			return fmt.Errorf("%w: %s lacks %q in %s", ErrUnsound, m.to.Name, there[i].Key, there[i].Bucket)
		case i == len(there) || there[i].compare(here[i].Place) > 0:
			return fmt.Errorf("%w: %s has %q in %s, which %s has not", ErrUnsound, m.to.Name, here[i].Key, here[i].Bucket, m.from.Name)
		case string(there[i].Value) != string(here[i].Value):
			return fmt.Errorf("%w: %q in %s is not the same in %s", ErrUnsound, here[i].Key, here[i].Bucket, m.to.Name)
		}
	}
	return nil
}

func (m *move) prove(ctx context.Context) error {
	m.step(proving)
	return clean(ctx, m.to.End)
}

// clean returns an ErrUnsound with the first of what an audit finds.
func clean(ctx context.Context, e End) error {
	report, err := e.Audit(ctx)
	if err != nil || report.Clean() {
		return err
	}
	return fmt.Errorf("%w: the audit of %s found %d violations; the first: %w", ErrUnsound, e.Name, len(report.Violations)+report.More, report.Violations[0])
}
