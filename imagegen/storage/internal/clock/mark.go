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
}

// Mark is what to write down of a reading.
func (r Reading) Mark() Mark {
	if !r.Doubt {
		return Mark{At: r.Now}
	}
	return Mark{At: r.Now, Doubt: true, Skew: r.Wall.Sub(r.Now)}
}

// Encode returns the mark as it is stored.
func (m Mark) Encode() []byte {
	var w kv.Writer
	w.Time(m.At)
	w.Bool(m.Doubt)
	w.Int(int64(m.Skew))
	return w
}

// DecodeMark reads a stored mark; of nothing it is zero.
func DecodeMark(b []byte) (Mark, error) {
	if b == nil {
		return Mark{}, nil
	}
	r := kv.NewReader(b)
	m := Mark{At: r.Time(), Doubt: r.Bool(), Skew: time.Duration(r.Int())}
	if err := r.Err(); err != nil {
		return Mark{}, fmt.Errorf("clock: what was written down of it cannot be read: %w", err)
	}
	return m, nil
}
