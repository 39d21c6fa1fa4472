package main

// What an API key may be used for, and what is shown of its use.
var ofLimits = []mutant{
	{name: "limit-outside-transaction",
		breaks: "of calls at once with a key no more are accepted than its limits allow",
		file:   "imagegen/storage/memory/store.go", in: "store.CreateCharged", edit: both(
			before(`return s.writeRecord($*_)`,
				`use, _ := s.books.KeyUse(ctx, r.User, r.KeyID); time.Sleep(5 * time.Millisecond)`),
			replace(`if err := rules.Charge(lookup{s}, $books, to); err != nil { $*refuse }`,
				`if err := s.keys[r.KeyID].CheckLimits(use, to.Charge().Credits); err != nil { $*refuse }
				if err := $books.Charge(to.Charge(), ledger.Asker{}); err != nil { $*refuse }`),
		),
		catcher: by(memory, "TestJoint")},
	{name: "refund-on-its-own-day", breaks: "what comes back counts on the day of its charge",
		file: "imagegen/storage/internal/ledger/usage.go", in: "Entry.Bills",
		edit:    replace(`e.Charged`, `e.Time`),
		catcher: by(memory, "TestCreditAdmin")},
	{name: "refunds-count-against-limits", breaks: "a limit counts charges minus refunds",
		file: "imagegen/storage/internal/ledger/usage.go", in: "openAccount.uses",
		edit:    replace(`row.Charged - row.Refunded`, `row.Charged`),
		catcher: by(memory, "TestJoint")},
	{name: "grants-for-members", breaks: "who has a sponsor is granted no credits, also at the same moment",
		file: "imagegen/storage/internal/rules/rules.go", in: "Granted",
		edit:    replace(`u.Sponsor == ""`, `true`),
		catcher: by(memory, "TestJoint")},
	{name: "sponsors-for-owners", breaks: "who has credits gets no sponsor, also at the same moment",
		file: "imagegen/storage/internal/rules/rules.go", in: "sponsored",
		edit:    replace(`has.Credits`, `false`),
		catcher: by(memory, "TestJoint")},
}
