package conformance_test

const shapeTests = "imagegen/httpapi/openai."

// shapeChecks are those of OpenAI's shape. Its clients are held to it in cmd/imagegend/clients, against the daemon.
var shapeChecks = []check{
	{name: "routes of OpenAI's shape", lines: []string{"contract: | routes of the shape |"},
		elsewhere: []string{shapeTests + "TestGenerate", shapeTests + "TestEditForms", shapeTests + "TestEditJSON",
			shapeTests + "TestEditJSONThatIsRefused", shapeTests + "TestLargestDataURI", shapeTests + "TestErrors"}},
	{name: "answers of OpenAI's shape", lines: []string{"contract: | answer of the shape |"},
		elsewhere: []string{shapeTests + "TestGenerate", shapeTests + "TestAddresses", shapeTests +
			"TestMemoryIsFlat"}},
	{name: "fields of OpenAI's shape", lines: []string{"contract: | taken without effect |",
		"contract: | honoured in the shape |", "contract: | refused in the shape |"},
		elsewhere: []string{shapeTests + "TestFieldsThatAreTaken", shapeTests + "TestFieldsThatAreHonoured",
			shapeTests + "TestMask", shapeTests + "TestJoining", shapeTests + "TestFieldsThatCannotBeHonoured",
			shapeTests + "TestFieldsThatAreNotDeclared", shapeTests + "TestRecordedBodies"}},
	{name: "streams of OpenAI's shape", lines: []string{"contract: | `stream` | server-sent events"},
		elsewhere: []string{shapeTests + "TestStream", shapeTests + "TestStreamedEdit", shapeTests +
			"TestImagesBeforeTheEndOfAStream", shapeTests + "TestStreamThatFails", shapeTests +
			"TestStreamThroughAnImpatientProxy"}},
	{name: "errors of OpenAI's shape", lines: []string{"contract: | errors in the shape |"},
		elsewhere: []string{shapeTests + "TestErrors", shapeTests + "TestRefusalsOfEachCall"}},
	{name: "models of OpenAI's shape", lines: []string{"contract: | model in the shape |"},
		elsewhere: []string{shapeTests + "TestModels", "imagegen/engine.TestAliases"}},
	{name: "time and joins of OpenAI's shape", lines: []string{"contract: | time and joins of the shape |"},
		elsewhere: []string{shapeTests + "TestAnswersThatDoNotArrive", shapeTests + "TestJoining"}},
}
