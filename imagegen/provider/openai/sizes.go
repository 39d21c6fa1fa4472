package openai

import "github.com/imagegend/imagegend/imagegen"

// GPTImage2 returns the rules of gpt-image-2, 2.5 and 2.6, from OpenAI's API reference: edges in multiples of 16
// pixels up to 3840, from 655,360 to 8,294,400 pixels in all, and a shape of up to 3:1.
func GPTImage2() imagegen.SizeRules {
	return imagegen.SizeRules{Step: 16, MaxEdge: 3840, MinPixels: 655_360, MaxPixels: 8_294_400, MaxAspect: 3}
}

// capabilities are those by the configuration alone, without the options that family.declare adds.
func (c Config) capabilities() imagegen.Capabilities {
	can := imagegen.Capabilities{Sizes: c.Sizes, SizeRules: c.SizeRules, MaxReferences: c.MaxReferences,
		MaxPrompt: c.MaxPrompt, Verify: imagegen.VerifyStructure}
	if !c.NoAuto && c.Sizes == nil {
		can.AutoTiers = []imagegen.Tier{imagegen.Tier1K} // what the upstream chooses for "auto" is of this tier
	}
	return can
}
