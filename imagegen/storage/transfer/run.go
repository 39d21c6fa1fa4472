package transfer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/transfer/internal/pagesize"
)

// Step is what a move is doing, in words for people, such as "auditing the source".
type Step string

// The steps, in order. A move that goes on after it was broken off leaves out the audit of the source once rows were
// copied, and copies only what is missing; it always compares and proves.
const (
	auditing  Step = "auditing the source"
	copying   Step = "copying"
	comparing Step = "comparing"
	proving   Step = "auditing the target"
)

// Progress is how far a move is. It counts the work of this process only, not that of an earlier one whose move was
// interrupted.
type Progress struct {
	Step  Step
	Rows  int // rows copied, or compared if Step is the comparison
	Files int // images and reference images copied
}

// Errors of Run, for errors.Is, besides ErrMoved and ErrRaced.
var (
	// ErrNotEmpty: the target contains something that does not belong to this move.
	ErrNotEmpty = errors.New("transfer: the target is not empty")
	// ErrUnsound: an audit found a violation, or the two ends differ.
	ErrUnsound = errors.New("transfer: nothing was moved for good")
)

// Run moves everything from one storage into another, which must be empty; or continues a move between these two that
// was interrupted. It calls tell with the progress, from its own goroutine; tell may be nil.
//
// Run first marks both ends; from then on they can be used only for this move. Then it audits the source, copies
// everything, compares both ends row by row, and audits the target with every image. Only then does it mark the source
// as moved for good, and after that remove the target's mark. In this order both can never be in use at the same time,
// and after an interruption at any point Run can be repeated.
//
// ErrMoved: the source was moved elsewhere, or takes part in another move. ErrNotEmpty: the target is not empty.
// ErrUnsound: an audit found a violation, or the ends differ; nothing was moved for good. If it was the audit of the
// source, the source returns to ordinary use; after any other error the marks stay. ErrRaced: another process continues
// the same move, or has given it up.
func Run(ctx context.Context, from, to End, tell func(Progress)) error {
	m := &move{from: side{End: from}, to: side{End: to}, tell: tell}
	if m.tell == nil {
		m.tell = func(Progress) {}
	}
	copied, err := m.markEnds(ctx)
	if err != nil {
		return err
	}
	if !copied {
		for _, step := range []func(context.Context) error{m.copy, m.compare, m.prove} {
			if err := step(ctx); err != nil {
				return err
			}
		}
		if err := m.from.setMark(ctx, m.mark(Left)); err != nil {
			return err
		}
	}
	return m.to.setMark(ctx, Mark{})
}

// GiveUp gives up a move that has not ended, and returns its source, from, to ordinary use. The target must then be
// emptied. After an error nothing has changed. ErrMoved: the move has ended, or from is the target of a move. It is
// also an error if from is not being moved.
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
	id       string // Mark.Move of both ends
	at       Place  // that of the last row that the target has
}

// side is an end with the mark that this process has read or set there last, and so expects to find there.
type side struct {
	End
	mark Mark
}

func (s *side) readMark(ctx context.Context) (err error) {
	s.mark, err = s.Mark(ctx)
	return err
}

// empty returns an ErrNotEmpty if there is a row.
func (s *side) empty(ctx context.Context) error {
	rows, err := s.Rows(ctx, Place{}, 1)
	if err == nil && len(rows) > 0 {
		err = fmt.Errorf("%w: %s; name an empty one", ErrNotEmpty, s.Name)
	}
	return err
}

// setMark replaces the mark. ErrRaced: another process has changed it since.
func (s *side) setMark(ctx context.Context, m Mark) error {
	if err := s.SetMark(ctx, s.mark, m); err != nil {
		return err
	}
	s.mark = m
	return nil
}

// mark returns a new mark of this move, for the end that has such a state: only a target is arriving.
func (m *move) mark(s State) Mark {
	other := m.to.Name
	if s == Arriving {
		other = m.from.Name
	}
	return Mark{State: s, Move: m.id, Other: other, Since: time.Now().UTC().Truncate(time.Microsecond), At: m.at}
}

// markEnds marks both ends and audits the source, or finds where a move of both was broken off. copied: the source is
// marked as moved for good, and all that is left to do is to take the target's mark away.
//
// The marks of a move belong together if they have one identifier. Without a row at the target, nobody knows whether
// the audit of the source had ended, so it is done again.
func (m *move) markEnds(ctx context.Context) (copied bool, err error) {
	if err := m.from.readMark(ctx); err != nil {
		return false, err
	}
	if err := m.to.readMark(ctx); err != nil {
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

// anew marks both ends of a move that begins, and audits the source. The target is marked first: if that is as far as
// it comes, the source is in ordinary use, and a target that is arriving without a row can be marked once more.
func (m *move) anew(ctx context.Context) error {
	if s := m.to.mark.State; s != Ordinary && (s != Arriving || m.at.Bucket != "") {
		return fmt.Errorf("%w: %s holds a part of another move; name an empty one", ErrNotEmpty, m.to.Name)
	}
	if err := m.to.empty(ctx); err != nil {
		return err
	}
	m.id = rand.Text()
	if err := m.to.setMark(ctx, m.mark(Arriving)); err != nil {
		return err
	}
	if err := m.from.setMark(ctx, m.mark(Leaving)); err != nil {
		return err
	}
	return m.audit(ctx)
}

// audit audits the source before anything of it is copied. A source that is not sound is returned to ordinary use: what
// is wrong has to be put right there first.
func (m *move) audit(ctx context.Context) error {
	m.step(auditing)
	err := clean(ctx, m.from.End)
	if errors.Is(err, ErrUnsound) {
		return errors.Join(err, m.from.setMark(ctx, Mark{}))
	}
	return err
}

func (m *move) step(s Step) {
	m.progress.Step = s
	m.tell(m.progress)
}

// copy copies rows and files, from m.at on. The target takes a page, and its mark with it, once it has the files of the
// page: as everywhere, a record names only what is stored.
func (m *move) copy(ctx context.Context) error {
	m.step(copying)
	c := copier{from: m.from.End, to: m.to.End}
	for rows, err := range pages(ctx, m.from, m.at) {
		if err != nil {
			return err
		}
		all, err := filesOf(rows, rules.Images, rules.References)
		if err != nil {
			return err
		}
		if err := c.copy(ctx, all); err != nil {
			return err
		}
		m.at = rows[len(rows)-1].Place
		mark := m.mark(Arriving)
		if err := m.to.Take(ctx, rows, m.to.mark, mark); err != nil {
			return err
		}
		m.to.mark = mark
		m.progress.Rows, m.progress.Files = m.progress.Rows+len(rows), m.progress.Files+len(all)
		m.tell(m.progress)
	}
	return nil
}

// compare reads the rows of both ends side by side, from the first, and returns an ErrUnsound at the first difference.
func (m *move) compare(ctx context.Context) error {
	m.progress.Rows = 0
	m.step(comparing)
	for at := (Place{}); ; {
		there, err := m.from.Rows(ctx, at, pagesize.Rows)
		if err != nil {
			return err
		}
		here, err := m.to.Rows(ctx, at, pagesize.Rows)
		if err != nil {
			return err
		}
		if there, err = m.rounded(there); err != nil {
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

// rounded returns rows of the source as the target keeps them.
func (m *move) rounded(rows []Row) ([]Row, error) {
	all := make([]Row, len(rows))
	for i, r := range rows {
		var err error
		if all[i], err = m.to.Round(r); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// differ returns an ErrUnsound unless two pages, of the source and of the target, are the same, and says for the first
// row that differs whether it is missing, too many, or has another value.
func (m *move) differ(there, here []Row) error {
	for i := range max(len(there), len(here)) {
		switch {
		case i < len(there) && (i == len(here) || there[i].compare(here[i].Place) < 0):
			return fmt.Errorf("%w: %s lacks %q in %s", ErrUnsound, m.to.Name, there[i].Key, there[i].Bucket)
		case i == len(there) || there[i].compare(here[i].Place) > 0:
			return fmt.Errorf("%w: %s has %q in %s, which %s lacks", ErrUnsound, m.to.Name, here[i].Key, here[i].Bucket,
				m.from.Name)
		case string(there[i].Value) != string(here[i].Value):
			return fmt.Errorf("%w: %q in %s is not the same in %s", ErrUnsound, here[i].Key, here[i].Bucket, m.to.Name)
		}
	}
	return nil
}

// prove audits the target: that what it has made of the rows follows from them, and that it has every image.
func (m *move) prove(ctx context.Context) error {
	m.step(proving)
	return clean(ctx, m.to.End)
}

// clean audits an end. An ErrUnsound: the audit has found violations, of which the error has the first.
func clean(ctx context.Context, e End) error {
	report, err := e.Audit(ctx)
	if err != nil || report.Clean() {
		return err
	}
	return fmt.Errorf("%w: the audit of %s found %d violations; the first: %w", ErrUnsound, e.Name,
		len(report.Violations)+report.More, report.Violations[0])
}
