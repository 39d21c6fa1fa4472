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
		elsewhere: []string{"imagegen/engine.TestLeapOfTheClock", "imagegen/storage.TestPause",
			"imagegen/storage/internal/ledger.TestFirstStartYearsFast",
			"imagegen/storage/internal/ledger.TestClockIsPutRight",
			"imagegen/storage/internal/clock.TestRestartInDoubt"},
	},
	{
		name:  "the audit trail",
		lines: []string{"contract: | audit trail | every administrative act"},
		elsewhere: []string{"cmd/imagegend.TestTrail",
			"cmd/imagegend/internal/adminserver.TestEveryOperationLeavesItsRow",
			"imagegen/console.TestFailedSignInsInTheTrail", "imagegen/storage/internal/trail.TestNoActWithoutItsRow",
			"imagegen/engine.TestTrailRetention"},
	},
	{
		name:  "the address for operators",
		lines: []string{"contract: | `--ops-addr` | off by default"},
		elsewhere: []string{"cmd/imagegend.TestOpsAddress", "cmd/imagegend.TestOpsConnectionsAreBounded",
			"imagegen/metrics.TestCallersMakeNoSeries", "imagegen/metrics.TestCreditsEqualTheLedger"},
	},
	{
		name:  "traces",
		lines: []string{"contract: | traces | off unless"},
		elsewhere: []string{"cmd/imagegend.TestTraces", "cmd/imagegend.TestTraceSettings",
			"imagegen/otel.TestTraceOfAGeneration", "imagegen/otel.TestTraceOfQueuedWork"},
	},
	{
		name:  "readiness",
		lines: []string{"contract: | `/readyz` | on `--ops-addr`"},
		elsewhere: []string{"imagegen/engine.TestLeapOfTheClock", "imagegen/httpapi.TestDraining",
			"cmd/imagegend.TestReadinessOfTheDisk"},
	},
	{
		name:  "signals",
		lines: []string{"contract: | signals | SIGTERM and SIGINT drain"},
		elsewhere: []string{"cmd/imagegend.TestDrain", "cmd/imagegend.TestQuitDumpsGoroutines",
			"cmd/imagegend/internal/daemon.TestLinger", "cmd/imagegend/upstreams.TestReload",
			"imagegen/engine.TestJobLeftToItsUpstream"},
	},
	{
		name:  "doctor",
		lines: []string{"contract: | `doctor` |"},
		elsewhere: []string{"cmd/imagegend.TestDoctorOfAHealthyService", "cmd/imagegend.TestDoctorFindsPlantedFaults",
			"cmd/imagegend.TestDoctorOfTheDisk", "cmd/imagegend.TestDoctorForPeople"},
	},
	{
		name:  "programs read what commands have changed",
		lines: []string{"contract: `--data-dir` on every administrative command"},
		elsewhere: []string{"cmd/imagegend/internal/cli.TestEveryCommandTakesJSON",
			"cmd/imagegend/internal/cli.TestChangesInJSON"},
	},
	{
		name:  "scheduled backups",
		lines: []string{"contract: | scheduled backups |"},
		elsewhere: []string{"cmd/imagegend.TestScheduledBackups", "cmd/imagegend.TestBackupsBelongElsewhere",
			"cmd/imagegend/survival.TestKillDuringBackups", "cmd/imagegend.TestScheduledBackupsInABucket",
			"cmd/imagegend/survival.TestKillDuringBackupsToABucket",
			"cmd/imagegend/internal/backups.TestArchivesInABucket", "cmd/imagegend/internal/backups.TestStoreIsAway",
			"cmd/imagegend/internal/backups.TestEverySoOften", "cmd/imagegend/internal/backups.TestNeverTwoAtOnce",
			"cmd/imagegend/internal/backups.TestFailures", "cmd/imagegend/internal/backups.TestBrokenArchive"},
	},
	{
		name:  "the operator's HTTP interface",
		lines: []string{"contract: | `/admin/v1` |"},
		elsewhere: []string{"cmd/imagegend.TestAdministrationOverHTTP", "cmd/imagegend.TestOperatorKeysOverHTTP",
			"cmd/imagegend.TestOperatorsInterfaceIsPrivate",
			"cmd/imagegend/internal/cli.TestSettingsThatCannotBeMeantTogether", "cmd/imagegend.TestPaymentsExample",
			"imagegen/account.TestOperatorKeys"},
	},
	{
		name:  "the access log",
		lines: []string{"contract: | access log | method, route"},
		elsewhere: []string{"imagegen/httpapi.TestAccessLog", "imagegen/httpapi.TestAccessLogOfGenerations",
			"imagegen/console.TestAccessLog"},
	},
	{
		name: "a ledger that refuses for good",
		lines: []string{"contract: | a ledger of the embedder's that refuses",
			"contract: | `generation disputes`, `generation resolve ID"},
		elsewhere: []string{"imagegen/httpapi.TestChargeRefused", "imagegen/engine.TestSettlementRefusedForGood",
			"cmd/imagegend/internal/adminserver.TestResolve"},
	},
}
