package conformance_test

// What programs in Go find that have the service within them can only be seen in such a program.
var hostChecks = []check{
	{name: "recorded answers", lines: []string{"contract: | recorded answers |"},
		elsewhere: []string{"imagegen/provider/cassette.TestSuite", "imagegen/provider/cassette.TestAnswersComeBack",
			"imagegen/provider/cassette.TestUnknownCalls", "imagegen/provider/cassette.TestEachAnswerOnce",
			"imagegen/provider/cassette.TestNoSecrets", "examples/cassette.TestMenuChanged"}},
	{name: "metrics in a registry of the host's", lines: []string{"contract: | metrics | `imagegen/metrics`"},
		elsewhere: []string{"imagegen/metrics.TestTwoEngines", "imagegen/metrics.TestWhatIsNotWatched",
			"cmd/imagegend/internal/scrape.TestNamesInUse", "imagegen.TestModulesComeWithTheirPackages"}},
	{name: "held locks", lines: []string{"contract: | held locks |"},
		elsewhere: []string{"imagegen/storage/postgres.TestAccountThatSomebodyHolds",
			"imagegen/storage/postgres.TestActsOnAnAccountThatSomebodyHolds",
			"imagegen/storage/postgres.TestAccountThatSomebodyOpens",
			"imagegen/engine.TestSettlementOfAHeldAccount"}},
	{name: "the host's sign-in", lines: []string{"contract: | the host's sign-in |"},
		elsewhere: []string{"imagegen/httpapi.TestSignInOfTheHost", "imagegen/httpapi.TestForgedRequests",
			"imagegen/httpapi.TestSignInThatFails", "imagegen/httpapi.TestSignInThatHangs",
			"imagegen/httpapi.TestSignInEndsWithTheBody", "imagegen/httpapi.TestLimitsOfSignIns",
			"imagegen/httpapi/openai.TestSignInOfTheHost", "imagegen/httpapi/mcphttp.TestSignInOfTheHost",
			"imagegen/engine.TestSignInEnds", "imagegen/engine.TestSignInEndsBeforeTheCharge",
			"imagegen/engine.TestSignInEndsWhileWaiting", "internal/hostcall.TestHangs",
			"imagegen/console.TestHostSignsIn", "imagegen/console.TestHostsPages",
			"imagegen/console.TestHostsOperators",
			"imagegen/console.TestHostsSignInEndsMidForm", "imagegen/console.TestHostsSignInEndsMidWait",
			"imagegen/console.TestHostsFaults", "imagegen/console.TestHostHangs", "examples/sessions.TestSessions"}},
}
