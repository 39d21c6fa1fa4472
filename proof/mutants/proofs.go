package main

import (
	"path"
	"slices"
)

// seenByProofs plants some mutants once more, for a proof to catch: one that catches nothing proves
// nothing either.
func seenByProofs() (ms []mutant) {
	for _, p := range []struct {
		by    catcher
		names []string
	}{
		{catcher{pkg: linear, run: "TestMemory", runs: 3},
			[]string{"settle-not-idempotent", "settle-applied-twice", "charge-not-idempotent", "no-tombstone",
				"member-charged", "member-unlimited"}},
		{catcher{pkg: linear, run: "TestDisk", runs: 3},
			[]string{"refusal-of-a-write-that-happened"}},
		{catcher{pkg: crash, run: "TestEveryStep$/^(async|erase|references|keys)$/^(outside|disk)$"},
			[]string{"doubtful-charge-left-open", "settled-without-the-ledger", "work-after-doubtful-charge",
				"spool-not-swept"}},
		{catcher{pkg: crash, run: "TestEveryStep$/^members$/^(joint|outside)$"},
			[]string{"member-charged", "member-unlimited", "member-use-of-another"}},
		{catcher{pkg: crash, run: "TestEveryStepOfRecovery$/^sync$/^outside$"},
			[]string{"intent-forgotten-first"}},
		{catcher{pkg: model, run: "TestLedger$", runs: 50},
			[]string{"expired-credits-return", "refund-to-the-wrong-lot", "clock-runs-back", "grant-not-idempotent",
				"member-use-of-another"}},
		{catcher{pkg: model, run: "TestService$", runs: 50},
			[]string{"refund-off-by-one", "reservation-of-all-users", "member-charged", "member-unlimited",
				"member-left-and-charged"}},
		{catcher{pkg: simulation, run: "TestSimulation", runs: 100},
			[]string{"work-after-doubtful-charge", "intent-forgotten-first", "recovery-requeues-all",
				"image-not-stored"}},
		{catcher{pkg: simulation, run: "TestSimulation", runs: 10},
			[]string{"member-unlimited", "member-use-of-another"}},
		{catcher{pkg: simulation, run: "TestSimulation", runs: 3},
			[]string{"end-without-event", "refund-without-event"}},
		{catcher{pkg: crash, run: "TestEveryStep$/^members$/^(joint|disk)$"},
			[]string{"event-without-payer", "read-twice"}},
		{catcher{pkg: platter, run: "TestPowerCuts", runs: 8},
			[]string{"image-not-flushed", "directory-not-flushed", "database-not-flushed", "answer-before-commit"}},
		{catcher{pkg: platter, run: "TestEveryFault"},
			[]string{"eio-survivable"}},
	} {
		for _, name := range p.names {
			m := called(name)
			m.name += "/" + path.Base(p.by.pkg)
			m.catcher = p.by
			ms = append(ms, m)
		}
	}
	return ms
}

func called(name string) mutant {
	all := ofAllParts()
	return all[slices.IndexFunc(all, func(m mutant) bool { return m.name == name })]
}
