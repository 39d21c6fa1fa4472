package conformance_test

var referenceChecks = []check{
	{
		name: "reference images",
		lines: []string{
			"spec: Generates images from a text prompt with a model chosen by the caller. A reference image may be supplied",
			"spec: **JSON** (`Content-Type: application/json`)",
			"spec: | reference_image | file | no |",
			"spec: | Reference image formats |",
			"contract: | reference files |",
			"contract: | a file's type |",
		},
		elsewhere: []string{"imagegen/client.TestOverHTTP", "imagegen/httpapi.TestFormWithFiles"},
	},
	{
		name: "how many reference images",
		lines: []string{
			"spec: | reference images | Maximum number",
			"spec: | reference_image | file | no |",
			"spec: | Reference image count |",
			"spec: The code for oversize, unsupported-format or too-many",
			"contract: | limits | 50 MB",
			"contract: | oversize, wrong type, too many",
		},
		elsewhere: []string{"imagegen/httpapi.TestFormRefusals", "imagegen/httpapi.TestMaskBesideAllReferences"},
	},
	{
		name: "reference files that are refused",
		lines: []string{
			"spec: | Reference image formats |",
			"spec: The code for oversize, unsupported-format or too-many",
			"contract: | a file's type |",
			"contract: | oversize, wrong type, too many",
		},
		elsewhere: []string{"imagegen/httpapi.TestFormRefusals", "imagegen/httpapi.TestPixelLimit"},
	},
	{
		name: "how large a reference image is",
		lines: []string{
			"spec: | reference_image | file | no |",
			"spec: | Reference image file size |",
			"contract: | a file's type |",
			"contract: | limits | 50 MB",
			"contract: | oversize, wrong type, too many",
		},
		elsewhere: []string{"imagegen/httpapi.TestFileOfFiftyMiB", "imagegen/httpapi.TestBodyLargerThanAllFiles"},
	},
	{
		name:   "files on their side",
		lines:  []string{"contract: | orientation | of a reference or a mask"},
		daemon: checkOrientation,
		elsewhere: []string{"imagegen/client.TestOverHTTP", "imagegen/engine.TestTurnedReferences",
			"imagegen/engine.TestTurnedMask", "imagegen/engine.TestUprightCopyIsMadeOnce",
			"imagegen/engine.TestAReferenceThatIsTooLargeToTurn", "imagegen/engine.TestTurnedImagesOfAnUpstream"},
	},
}

func reference(file string, content []byte) part {
	return part{name: "reference_image", value: string(content), file: file}
}
