package engine_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

func TestPolicies(t *testing.T) {
	info := imagegen.ModelInfo{ID: "m", Ratios: imagegen.Ratios(), Tiers: imagegen.Tiers()}
	size := func(w, h int) imagegen.Size { return imagegen.Size{Width: w, Height: h} }
	type answer struct {
		Ratio imagegen.Ratio
		Tier  imagegen.Tier
		OK    bool
	}
	for name, c := range map[string]struct {
		policy  engine.Policy
		size    imagegen.Size
		quality imagegen.Quality
		want    answer
	}{
		"auto":                 {engine.SizeFirst, size(0, 0), "auto", answer{"auto", "1K", true}},
		"low":                  {engine.SizeFirst, size(0, 0), "low", answer{"auto", "1K", true}},
		"medium":               {engine.SizeFirst, size(0, 0), "medium", answer{"auto", "2K", true}},
		"high":                 {engine.SizeFirst, size(0, 0), "high", answer{"auto", "4K", true}},
		"size wins":            {engine.SizeFirst, size(1024, 1024), "high", answer{"1:1", "1K", true}},
		"area 2K":              {engine.SizeFirst, size(2048, 2048), "low", answer{"1:1", "2K", true}},
		"area 4K":              {engine.SizeFirst, size(3840, 2160), "auto", answer{"16:9", "4K", true}},
		"widest":               {engine.SizeFirst, size(3000, 1000), "auto", answer{"3:1", "2K", true}},
		"within the slack":     {engine.SizeFirst, size(3028, 1000), "auto", answer{"3:1", "2K", true}},
		"beyond the slack":     {engine.SizeFirst, size(3040, 1000), "auto", answer{}},
		"too tall":             {engine.SizeFirst, size(16, 8192), "auto", answer{}},
		"quality first, high":  {engine.QualityFirst, size(512, 512), "high", answer{"1:1", "4K", true}},
		"quality first, auto":  {engine.QualityFirst, size(0, 0), "medium", answer{"auto", "2K", true}},
		"quality first, small": {engine.QualityFirst, size(2048, 2048), "low", answer{}},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := c.policy(c.size, c.quality, info)
			got := answer{made.Ratio, made.Tier, err == nil}
			if err != nil {
				got = answer{}
				is.New(t).True(errors.Is(err, imagegen.ErrInvalidRequest))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
