package disk_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/imagegend/imagegend/proof/internal/figures"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

// outcomes counts answers by kind: a random test has to meet each kind often enough.
func (p *protocol) outcomes(f *figures.Figures) {
	for _, d := range p.operations {
		for _, w := range d.answers {
			if kind := w.outcome(); kind != "" {
				f.Add(kind, 1)
			}
		}
	}
}

func requireOutcomes(t *testing.T, f *figures.Figures) {
	t.Helper()
	f.Require(t, 0.05, "succeeded", "partial", "failed", "402", "503", "replayed")
}

// outcome is "" of what is none of a generation.
func (w logRecord) outcome() string {
	switch {
	case w.Replayed:
		return "replayed"
	case w.Answer == witness.Poor, w.Answer == witness.Busy, w.Answer == witness.Failed:
		return string(w.Answer)
	case w.Generation == nil:
		return ""
	case len(w.Generation.Images) < w.Generation.N:
		return "partial"
	}
	return "succeeded"
}

// unanswered is how many questions got no answer.
func (p *protocol) unanswered() (n int) {
	for _, d := range p.operations {
		if len(d.answers) == 0 {
			n++
		}
	}
	return n
}

// judge inspects what is left, and counts.
func (p *protocol) judge(f *figures.Figures, data string) error {
	f.Add("states", 1)
	f.Add("unanswered", p.unanswered())
	facts, err := p.inspect(data)
	f.Add("facts", facts)
	var corrupt, lost int
	if errors.Is(err, errCorrupt) {
		corrupt = 1
	} else if err != nil {
		lost = 1
	}
	f.Add("corrupt", corrupt)
	f.Add("lost", lost)
	return err
}

// shortened keeps what one fault brings about from filling the screen.
func shortened(err error) string {
	const most = 4000
	s := err.Error()
	if len(s) > most {
		return fmt.Sprintf("%s …and %d bytes more", s[:most], len(s)-most)
	}
	return s
}
