package provider

import "github.com/imagegend/imagegend/imagegen"

// Template describes a model by the input that it takes, and what it makes. It is part of the configuration of packages
// fal, replicate and webapi, whose documentation lists the placeholders.
type Template struct {
	// Input is the model's input with placeholders. Required, except for package fal.
	Input map[string]any

	// Sizes lists all sizes that the model makes, if it does not take every size that SizeRules allow. If there are
	// several, Input must contain what tells them apart: {{width}} and {{height}}, {{size}}, {{ratio}} or {{tier}}.
	Sizes []imagegen.Size

	// SizeRules say which sizes the model takes, if Sizes is nil.
	SizeRules imagegen.SizeRules

	// TierNames are what {{tier}} stands for, if the model has its own names for tiers.
	TierNames map[imagegen.Tier]string

	// FormatNames are the formats that the model makes, and what it calls each, such as jpg for jpeg. They are
	// required if Input has {{format}}, and not permitted otherwise.
	FormatNames map[imagegen.Format]string

	// MaxReferences is the most reference images. 0: none.
	MaxReferences int

	// MaxPerCall is the most images that one call makes, up to 4; for more, several calls run at once. 0: 1.
	MaxPerCall int

	// MaxPrompt is the most characters of a prompt. 0: 32,000.
	MaxPrompt int
}
