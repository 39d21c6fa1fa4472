package openai

import "github.com/imagegend/imagegend/imagegen"

// GPTImage2 returns the rules of gpt-image-2, 2.5 and 2.6: edges in multiples of 16 up to 3840, from 655,360 to
// 8,294,400 pixels, no more than 3:1.
func GPTImage2() imagegen.SizeRules {
	return imagegen.SizeRules{Step: 16, MaxEdge: 3840, MinPixels: 655_360, MaxPixels: 8_294_400, MaxAspect: 3}
}

func (c Config) capabilities() imagegen.Capabilities {
	can := imagegen.Capabilities{Sizes: c.Sizes, SizeRules: c.SizeRules, MaxReferences: c.MaxReferences, MaxPrompt: c.MaxPrompt,
		Verify: imagegen.VerifyStructure}
	if !c.NoAuto && c.Sizes == nil {
		can.AutoTiers = []imagegen.Tier{imagegen.Tier1K} // of which the upstream's own choice is
	}
	return can
}
