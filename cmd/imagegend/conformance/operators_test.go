package conformance_test

// operatorChecks are of section 10, which is seen by operators: their tests run the daemon beside its package.
var operatorChecks = []check{
	{
		name:      "the models are chosen",
		lines:     []string{"contract: | `serve` without a models file |"},
		elsewhere: []string{"cmd/imagegend/internal/cli.TestServeWithoutModels"},
	},
	{
		name:  "the clock",
		lines: []string{"contract: | the clock | entries carry"},
		elsewhere: []string{"imagegen/engine.TestLeapOfTheClock", "imagegen/storage.TestPause", "imagegen/storage/internal/ledger.TestFirstStartYearsFast",
			"imagegen/storage/internal/ledger.TestClockIsPutRight", "imagegen/storage/internal/clock.TestRestartInDoubt"},
	},
	{
		name:  "the audit trail",
		lines: []string{"contract: | audit trail | every administrative act"},
		elsewhere: []string{"cmd/imagegend.TestTrail", "cmd/imagegend/internal/admin.TestEveryOperationLeavesItsRow",
			"imagegen/console.TestFailedSignInsInTheTrail", "imagegen/storage/internal/trail.TestNoActWithoutItsRow", "imagegen/engine.TestTrailRetention"},
	},
	{
		name:      "readiness",
		lines:     []string{"contract: | `/readyz` | on the admin socket"},
		elsewhere: []string{"imagegen/engine.TestLeapOfTheClock", "imagegen/httpapi.TestDraining", "cmd/imagegend.TestReadinessOfTheDisk"},
	},
	{
		name:  "signals",
		lines: []string{"contract: | signals | SIGTERM and SIGINT drain"},
		elsewhere: []string{"cmd/imagegend.TestDrain", "cmd/imagegend.TestQuitDumpsGoroutines", "cmd/imagegend/internal/daemon.TestLinger", "cmd/imagegend/upstreams.TestReload",
			"imagegen/engine.TestJobOfAnotherUpstream"},
	},
	{name: "doctor", lines: []string{"contract: | `doctor` |"}, elsewhere: []string{"cmd/imagegend.TestDoctorOfAHealthyService",
		"cmd/imagegend.TestDoctorOfTheConfiguration", "cmd/imagegend.TestDoctorOfTheDirectory", "cmd/imagegend.TestDoctorOfTheDisk",
		"cmd/imagegend.TestDoctorOfTheClock", "cmd/imagegend.TestDoctorOfTheDatabase", "cmd/imagegend.TestDoctorOfTheImages",
		"cmd/imagegend.TestDoctorOfTheModels", "cmd/imagegend.TestDoctorOfTheNetwork"}},
	{
		name:      "the access log",
		lines:     []string{"contract: | access log | method, route"},
		elsewhere: []string{"imagegen/httpapi.TestAccessLog", "imagegen/httpapi.TestAccessLogOfGenerations", "imagegen/console.TestAccessLog"},
	},
	{
		name:      "a ledger that refuses for good",
		lines:     []string{"contract: | a ledger of the embedder's that refuses", "contract: | `generation disputes`, `generation resolve ID"},
		elsewhere: []string{"imagegen/httpapi.TestChargeRefused", "imagegen/engine.TestSettlementRefusedForGood", "cmd/imagegend/internal/admin.TestResolve"},
	},
}
