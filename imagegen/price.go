package imagegen

// Price is one line of a model's prices: what one image costs if the request meets the conditions of the line. Of
// several lines, the first that fits the request and has an amount for its tier decides.
type Price struct {
	Quality     Quality // the effort that is asked of the provider, see Generation.Effort; "": any
	AccountType string  // of the user; "": any
	References  int     // at least so many reference images; 0: also without any
	Mask        bool    // only with a mask; false: with and without one

	// Credits is the price of one image, by tier. For a tier that is not in it, a further line decides.
	Credits map[Tier]Credits
	// ReferenceCredits are added to the price of each image for each reference image. nil: those of the model.
	ReferenceCredits *Credits
}

// EveryTier returns the same amount for every tier, for [Price.Credits].
func EveryTier(c Credits) map[Tier]Credits {
	m := make(map[Tier]Credits)
	for _, t := range Tiers() {
		m[t] = c
	}
	return m
}
