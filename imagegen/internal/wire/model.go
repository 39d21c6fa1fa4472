package wire

import "github.com/imagegend/imagegend/imagegen"

// Models is the list of models on offer.
type Models struct {
	Object string  `json:"object"`
	Data   []Model `json:"data"`
}

// Model is one model on offer.
type Model struct {
	ID                 string                               `json:"id"`
	Object             string                               `json:"object"`
	Provider           string                               `json:"provider"`
	Credits            map[imagegen.Tier]imagegen.Credits   `json:"credits"`
	Prices             []Price                              `json:"prices,omitempty"`
	ReferenceCredits   imagegen.Credits                     `json:"reference_credits,omitempty"`
	PriceVaries        bool                                 `json:"price_varies,omitempty"`
	DefaultOptions     DefaultOptions                       `json:"default_options"`
	SupportedQualities []imagegen.Tier                      `json:"supported_qualities"`
	SupportedEfforts   map[imagegen.Tier][]imagegen.Quality `json:"supported_efforts"`
	SupportedRatios    []imagegen.Ratio                     `json:"supported_ratios"`
	OutputFormats      []imagegen.Format                    `json:"supported_output_formats"`
	Backgrounds        []imagegen.Background                `json:"supported_backgrounds"`
	Mask               bool                                 `json:"supports_mask"`
	Seed               bool                                 `json:"supports_seed"`
	Limits             Limits                               `json:"limits"`
}

// Price is a line of a model's prices: Credits are those of one image if the conditions hold. Of several lines, the
// first decides that fits and has an amount for the tier.
type Price struct {
	Effort           imagegen.Quality                   `json:"effort,omitempty"`
	References       int                                `json:"min_references,omitempty"`
	Mask             bool                               `json:"mask,omitempty"`
	Credits          map[imagegen.Tier]imagegen.Credits `json:"credits"`
	ReferenceCredits *imagegen.Credits                  `json:"reference_credits,omitempty"`
}

// newPrices converts.
func newPrices(lines []imagegen.Price) (w []Price) {
	for _, l := range lines {
		w = append(w, Price{l.Quality, l.References, l.Mask, l.Credits, l.ReferenceCredits})
	}
	return w
}

// value converts back.
func (w Price) value() imagegen.Price {
	return imagegen.Price{Quality: w.Effort, References: w.References, Mask: w.Mask, Credits: w.Credits,
		ReferenceCredits: w.ReferenceCredits}
}

// DefaultOptions is what a request that names neither size nor quality gets.
type DefaultOptions struct {
	AspectRatio imagegen.Ratio `json:"aspect_ratio"`
	Quality     imagegen.Tier  `json:"quality"`
}

// Limits bounds a request to a model.
type Limits struct {
	ReferenceImages     int   `json:"reference_image_limit"`
	Images              int   `json:"max_images"`
	PromptLength        int   `json:"max_prompt_length"`
	ReferenceImageBytes int64 `json:"max_reference_image_bytes"`
	Seed                int64 `json:"max_seed,omitempty"`
}

// NewModels converts.
func NewModels(infos []imagegen.ModelInfo) Models {
	w := Models{Object: "list", Data: make([]Model, len(infos))}
	for i, m := range infos {
		w.Data[i] = Model{
			ID: m.ID, Object: "model", Provider: m.Provider, Credits: m.Credits,
			Prices: newPrices(m.Prices), ReferenceCredits: m.ReferenceCredits, SupportedEfforts: m.Efforts,
			PriceVaries:        m.PriceVaries,
			DefaultOptions:     DefaultOptions{imagegen.RatioAuto, imagegen.Tier1K},
			SupportedQualities: orEmpty(m.Tiers), SupportedRatios: orEmpty(m.Ratios),
			OutputFormats: orEmpty(m.Formats), Backgrounds: orEmpty(m.Backgrounds), Mask: m.Mask, Seed: m.MaxSeed > 0,
			Limits: Limits{m.MaxReferences, m.MaxImages, m.MaxPrompt, m.MaxReferenceBytes, m.MaxSeed},
		}
	}
	return w
}

// orEmpty keeps a list from being null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Value converts back.
func (w Models) Value() []imagegen.ModelInfo {
	infos := make([]imagegen.ModelInfo, len(w.Data))
	for i, m := range w.Data {
		infos[i] = imagegen.ModelInfo{
			ID: m.ID, Provider: m.Provider, Credits: m.Credits, Tiers: m.SupportedQualities, Ratios: m.SupportedRatios,
			MaxReferences: m.Limits.ReferenceImages, MaxImages: m.Limits.Images, MaxPrompt: m.Limits.PromptLength,
			MaxReferenceBytes: m.Limits.ReferenceImageBytes, Formats: m.OutputFormats, Backgrounds: m.Backgrounds,
			Mask: m.Mask, MaxSeed: m.Limits.Seed, Efforts: m.SupportedEfforts, ReferenceCredits: m.ReferenceCredits,
			PriceVaries: m.PriceVaries,
		}
		for _, l := range m.Prices {
			infos[i].Prices = append(infos[i].Prices, l.value())
		}
	}
	return infos
}
