package main

// No credit is lost or doubled.
var ofBooks = []mutant{
	{
		name: "settle-not-idempotent", breaks: "a settlement can be repeated",
		file: "imagegen/storage/internal/ledger/charge.go",
		old: `	case c.Settled && c.Used == used:
		return nil
`,
		new:     ``,
		catcher: catcher{pkg: memory, run: "TestCreditAdmin"},
	},
	{
		name: "settle-applied-twice", breaks: "each charge ends exactly once",
		file: "imagegen/storage/internal/ledger/charge.go",
		old: `	case c.Settled && c.Used == used:
		return nil
	case c.Settled, used < 0, used > c.Credits:
`,
		new: `	case used < 0, used > c.Credits:
`,
		catcher: catcher{pkg: memory, run: "TestCreditAdmin"},
	},
	{
		name: "charge-not-idempotent", breaks: "a charge can be repeated",
		file: "imagegen/storage/internal/ledger/charge.go",
		old: `	case known:
		return nil
	}
	a := b.open(`,
		new: `	}
	a := b.open(`,
		catcher: catcher{pkg: memory, run: "TestCreditAdmin"},
	},
	{
		name: "no-tombstone", breaks: "a charge that comes after its settlement is refused",
		file: "imagegen/storage/internal/ledger/charge.go",
		old: `		_, err := b.open("").record(Entry{Entry: imagegen.Entry{Kind: imagegen.EntrySettle, Charge: id}})
		return err
`,
		new: `		return nil
`,
		catcher: catcher{pkg: memory, run: "TestCreditAdmin"},
	},
	{
		name: "grant-not-idempotent", breaks: "a script that is run again does not double money",
		file: "imagegen/storage/internal/ledger/grant.go",
		old: `	if known {
		return a.repeatedGrant(`,
		new: `	if known && false {
		return a.repeatedGrant(`,
		catcher: catcher{pkg: memory, run: "TestCreditAdmin"},
	},
	{
		name: "expired-credits-return", breaks: "credits whose lot expired meanwhile come back in a lot that lives",
		file:    "imagegen/storage/internal/ledger/charge.go",
		old:     `rest > 0 && l.expired(a.at.Now) && a.at.Now.Before(until) {`,
		new:     `rest < 0 && l.expired(a.at.Now) && a.at.Now.Before(until) {`,
		catcher: catcher{pkg: books, run: "TestRefundAfterExpiry"},
	},
	{
		name: "expired-credits-spent", breaks: "credits that expired cannot be spent",
		file:    "imagegen/storage/internal/ledger/charge.go",
		old:     `if !l.expired(a.at.Now) {`,
		new:     `if !l.expired(a.at.Now) || missing > 0 {`,
		catcher: catcher{pkg: books, run: "TestExpiry|TestAgainstModel"},
	},
	{
		name: "refund-off-by-one", breaks: "credits spent are the price of the images published",
		file:    "imagegen/record.go",
		old:     `return r.Price * Credits(r.Published)` + "\n",
		new:     `return r.Price*Credits(r.Published) + Credits(min(1, r.Published*(r.N-r.Published)))` + "\n",
		catcher: catcher{pkg: core, run: "TestProviderOutcomes"},
	},
	{
		name: "refund-to-the-wrong-lot", breaks: "returned credits go back in the reverse of the order in which they were consumed",
		file:    "imagegen/storage/internal/ledger/charge.go",
		old:     `for _, h := range held {`,
		new:     `for n := range held { h := held[len(held)-1-n]`,
		catcher: catcher{pkg: books, run: "TestChargeAndSettleLaw"},
	},
	{
		name: "journal-not-chained", breaks: "the journal cannot be altered unnoticed",
		file:    "imagegen/storage/internal/ledger/apply.go",
		old:     `e.Hash = kv.Chained(a.Hash, e.Encoded)`,
		new:     `e.Hash = kv.Chained([32]byte{}, e.Encoded)`,
		catcher: catcher{pkg: books, run: "TestContract|TestCheckCounts"},
	},
	{
		name: "refund-renews-itself", breaks: "a refund does not outlive the first expiry of its credits by more than a day",
		file:    "imagegen/storage/internal/ledger/lot.go",
		old:     `if l.Refund {`,
		new:     `if l.Refund && l.Promo && !l.Promo {`,
		catcher: catcher{pkg: books, run: "TestRefundsDoNotRenewThemselves"},
	},
	{
		name: "clock-runs-back", breaks: "a clock that is set back is in doubt",
		file:    "imagegen/storage/internal/clock/clock.go",
		old:     `case ahead > longestLeap, ahead < -longestLag:`,
		new:     `case ahead > longestLeap:`,
		catcher: catcher{pkg: books, run: "TestClockIsSetBack"},
	},
	{
		name: "account-time-falls", breaks: "an account's time falls only where the clock was corrected",
		file:    "imagegen/storage/internal/ledger/account.go",
		old:     `if a.Epoch == epoch && at.Before(a.Time) {`,
		new:     `if a.Epoch == epoch && at.Equal(a.Time) {`,
		catcher: catcher{pkg: books, run: "TestClockIsPutRight"},
	},
	{
		name: "restart-ends-doubt", breaks: "a doubt about the clock outlasts a restart",
		file:    "imagegen/storage/internal/ledger/clock.go",
		old:     `seen = b.seen(mark)`,
		new:     `seen = mark`,
		catcher: catcher{pkg: books, run: "TestClockLeapsAhead"},
	},
	{
		name: "shortage-accuses-images", breaks: "an audit accuses no file that it could not look at",
		file:    "imagegen/storage/audit.go",
		old:     `if isShortage(wrong) || a.ctx.Err() != nil {`,
		new:     `if a.ctx.Err() != nil {`,
		catcher: catcher{pkg: disk, run: "TestAuditWithoutDescriptors"},
	},
	{
		name: "restart-forgets-the-queue", breaks: "accepted work outlasts a restart",
		file:    "imagegen/storage/internal/tables/work.go",
		old:     `	w.waiting.add(r.ticket(at.Steady, min(r.Delay, r.Due.Sub(at.Now))))`,
		new:     `	_ = min(r.Delay, r.Due.Sub(at.Now))`,
		catcher: catcher{pkg: tables, run: "TestLoad"},
	},
	{
		name: "delays-by-the-wall-clock", breaks: "a delay goes on through a restart, wherever the wall clock was set",
		file:    "imagegen/storage/internal/tables/generations.go",
		old:     `at.Now.Add(to.Delay)`,
		new:     `at.Wall.Add(to.Delay)`,
		catcher: catcher{pkg: disk, run: "TestDelayThroughALeapAndARestart"},
	},
	{
		name: "rest-of-a-delay-by-the-wall-clock", breaks: "what is left of a delay at a restart is left in doubt, too",
		file:    "imagegen/storage/internal/tables/work.go",
		old:     `r.Due.Sub(at.Now)`,
		new:     `r.Due.Sub(at.Wall)`,
		catcher: catcher{pkg: disk, run: "TestDelayThroughALeapAndARestart"},
	},
	{
		name: "stop-ends-doubt", breaks: "a doubt about the clock that has just begun outlasts a clean stop",
		file:    "imagegen/storage/storage.go",
		old:     `db.clock.Remember(ctx)`,
		new:     `error(nil)`,
		catcher: catcher{pkg: disk, run: "TestDoubtAtTheEnd"},
	},
	{
		name: "key-freed-by-outcome", breaks: "a generation keeps its idempotency key until it has ended",
		file:    "imagegen/record.go",
		old:     `case r.Unsettled(): //`,
		new:     `case r.CompletedAt.IsZero(): //`,
		catcher: catcher{pkg: root, run: "TestReserves"},
	},
	{
		name: "jump-believed", breaks: "a clock that jumps ahead expires no credits",
		file:    "imagegen/storage/internal/clock/clock.go",
		old:     `case ahead > longestLeap, ahead < -longestLag:`,
		new:     `case ahead < -longestLag:`,
		catcher: catcher{pkg: books, run: "TestClockLeapsAhead"},
	},
	{
		name: "memory-not-isolated", breaks: "ErrNotApplied means that nothing was written, in memory too",
		file: "imagegen/storage/internal/ledger/memory.go",
		old: `	if err := kv.NotBegun(ctx); err != nil {
		return err
	}
	t := &memoryTx{memory: m.rows, note: m.note}
	done := false
	defer func() {
		if !done { // also where f panics
			t.rollBack()
		}
	}()
	if err := f(t); err != nil {
		return err
	}
	done = true
`,
		new: `	t := &memoryTx{memory: m.rows, note: m.note}
	done := false
	defer func() {
		if !done { // also where f panics
			t.rollBack()
		}
	}()
	if err := f(t); err != nil {
		return err
	}
	done = true
	if err := kv.NotBegun(ctx); err != nil {
		return err
	}
`,
		catcher: catcher{pkg: linear, run: "TestMemory", runs: 2},
	},
	{
		name: "balance-before-settlement", breaks: "the balance in an answer is that of its own settlement",
		file: "imagegen/storage/internal/rules/rules.go",
		old: `	refusal := closeCharge(b, r)
	if refusal != nil && !imagegen.RefusedForGood(refusal) {
		return r, refusal
	}
	var balance *imagegen.Balance
	if r.WantsBalance() {
		told := b.Balance(r.User)
`,
		new: `	told := b.Balance(r.User)
	refusal := closeCharge(b, r)
	if refusal != nil && !imagegen.RefusedForGood(refusal) {
		return r, refusal
	}
	var balance *imagegen.Balance
	if r.WantsBalance() {
`,
		catcher: catcher{pkg: linear, run: "TestMemory", runs: 2},
	},
	{
		name: "balance-forgets-expiry", breaks: "credits that expired cannot be spent, also before they are written off",
		file:    "imagegen/storage/internal/ledger/account.go",
		old:     `return !a.Next.At.IsZero() && !a.at.Now.Before(a.Next.At)`,
		new:     `return false`,
		catcher: catcher{pkg: books, run: "TestExpiry"},
	},
	{
		name: "next-expiration-stays", breaks: "a balance says what expires next once what expired first is spent",
		file:    "imagegen/storage/internal/ledger/apply.go",
		old:     `return c.nextAnew(of)`,
		new:     `return imagegen.Expiration{}`,
		catcher: catcher{pkg: books, run: "TestAgainstModel"},
	},
	{
		name: "audit-trusts-charges", breaks: "an audit notices a charge that is not what its entries made of it",
		file:    "imagegen/storage/internal/ledger/check.go",
		old:     `c.same(e.Charge, charge)`,
		new:     ``,
		catcher: catcher{pkg: books, run: "TestCheckNamesWhatIsBroken"},
	},
	{
		name: "memory-keeps-what-failed", breaks: "a transaction that fails has written nothing, in memory too",
		file:    "imagegen/storage/internal/ledger/memory.go",
		old:     `		undo()`,
		new:     `		_ = undo`,
		catcher: catcher{pkg: books, run: "TestMemoryTakesBack"},
	},
}
