package provider

import (
	"cmp"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
)

// Steps are the numbers of sampling steps for each quality, for diffusion models that the operator runs. The quality
// auto counts as medium. Zero values stand for 20, 30 and 45.
type Steps struct{ Low, Medium, High int }

// WithDefaults returns s with its zero values replaced by what they stand for.
func (s Steps) WithDefaults() Steps {
	return Steps{cmp.Or(s.Low, 20), cmp.Or(s.Medium, 30), cmp.Or(s.High, 45)}
}

// Validate returns an error if one of the steps is not from 1 to most. Call it on what WithDefaults returns.
func (s Steps) Validate(most int) error {
	if min(s.Low, s.Medium, s.High) < 1 || max(s.Low, s.Medium, s.High) > most {
		return fmt.Errorf("the option Steps is %+v; each can be from 1 to %d", s, most)
	}
	return nil
}

// Of returns the steps for a quality.
func (s Steps) Of(q imagegen.Quality) int {
	switch q {
	case imagegen.QualityLow:
		return s.Low
	case imagegen.QualityHigh:
		return s.High
	}
	return s.Medium
}
