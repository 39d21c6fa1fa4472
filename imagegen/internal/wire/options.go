package wire

import "github.com/imagegend/imagegend/imagegen"

// Options are what a request asks for, of those that not every model has. What is not asked for does not stand in a body.
type Options struct {
	OutputFormat      imagegen.Format     `json:"output_format,omitempty"`
	OutputCompression *int                `json:"output_compression,omitempty"`
	Background        imagegen.Background `json:"background,omitempty"`
	Seed              *int64              `json:"seed,omitempty"`
}

// newOptions converts.
func newOptions(o imagegen.Options) Options {
	return Options{o.Format, o.Compression, o.Background, o.Seed}
}

// Value converts back.
func (w Options) Value() imagegen.Options {
	return imagegen.Options{Format: w.OutputFormat, Compression: w.OutputCompression, Background: w.Background, Seed: w.Seed}
}
