package clock

import (
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Mark is what is written down of a clock, so that a restart neither ends a doubt nor turns time
// back.
type Mark struct {
	At    time.Time // the judged time
	Doubt bool
	Skew  time.Duration // in doubt: how far the wall clock was ahead of the judged time; else 0

	Epoch   uint64    // how often the clock was corrected
	Written time.Time // the latest time that was written down in this epoch
	Since   time.Time // the first of them: the correction itself; zero: never corrected
}

// Saw is the mark after a reading.
func (m Mark) Saw(r Reading) Mark {
	m.At, m.Doubt, m.Skew = r.Now, r.Doubt, 0
	if r.Doubt {
		m.Skew = r.Wall.Sub(r.Now)
	}
	return m
}

// Wrote is the mark after a time that was written down.
func (m Mark) Wrote(at time.Time, epoch uint64) Mark {
	if epoch != m.Epoch {
		m.Epoch, m.Written, m.Since = epoch, at, at
	}
	m.Written = later(m.Written, at)
	return m
}

// Encode returns the mark as it is stored.
func (m Mark) Encode() []byte { return kv.Encode(&m, markForm) }

func markForm(c *kv.Coder, m *Mark) {
	c.Version(1)
	kv.Moment(c, &m.At)
	kv.Flag(c, &m.Doubt)
	kv.Number(c, &m.Skew)
	kv.Number(c, &m.Epoch)
	kv.Moment(c, &m.Written)
	kv.Moment(c, &m.Since)
}

// DecodeMark reads a stored mark; of nothing it is zero.
func DecodeMark(b []byte) (m Mark, err error) {
	if b == nil {
		return m, nil
	}
	if err := kv.Decode(b, &m, markForm); err != nil {
		return Mark{}, fmt.Errorf("clock: what was written down of it cannot be read: %w", err)
	}
	return m, nil
}
