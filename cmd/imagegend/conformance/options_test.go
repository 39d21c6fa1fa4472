package conformance_test

var optionChecks = []check{
	{
		name: "options that a model declares",
		lines: []string{
			"contract: | `output_format` `png` `jpeg` `webp`, `output_compression` 0–100",
			"contract: | an image of another format, or without an alpha channel",
			"contract: | `mask` | PNG with an alpha channel",
			"contract: Draws a real, pleasant, deterministic PNG",
		},
		elsewhere: []string{"imagegen/client.TestOverHTTP", "imagegen/httpapi.TestOptions",
			"imagegen/httpapi.TestOptionRefusals", "imagegen/httpapi.TestMaskBesideAllReferences",
			"imagegen/engine.TestOptionsThatAModelDoesNotDeclare", "imagegen/engine.TestOptionsAreDelivered"},
	},
}
