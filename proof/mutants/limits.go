package main

// What an API key may be used for, and what is told of its use.
var ofLimits = []mutant{
	{
		name: "limit-outside-transaction", breaks: "of calls at once with a key no more are accepted than its limits allow",
		file: "imagegen/storage/memory/store.go",
		old: `	return s.write(ctx, func(tx ledger.Tx, at clock.Reading) (imagegen.Record, error) {
		g := s.generations[r.ID]
		switch {
		case g == nil:
			if err := rules.Asked(lookup{s}, r); err != nil {
				return imagegen.Record{}, err
			}
			g = &generation{Record: r, joint: true}
		case g.State != imagegen.StateCharging:
			return g.Record, nil
		}
		to, _, err := g.Apply(r.Attempt, imagegen.Accept{})
		if err != nil {
			return g.Record, err
		}
		if err := rules.Charge(lookup{s}, s.books.At(tx, at), to); err != nil {
			return imagegen.Record{}, err
		}
`,
		new: `	use, _ := s.books.KeyUse(ctx, r.User, r.KeyID)
	time.Sleep(5 * time.Millisecond)
	return s.write(ctx, func(tx ledger.Tx, at clock.Reading) (imagegen.Record, error) {
		g := s.generations[r.ID]
		switch {
		case g == nil:
			if err := rules.Asked(lookup{s}, r); err != nil {
				return imagegen.Record{}, err
			}
			g = &generation{Record: r, joint: true}
		case g.State != imagegen.StateCharging:
			return g.Record, nil
		}
		to, _, err := g.Apply(r.Attempt, imagegen.Accept{})
		if err != nil {
			return g.Record, err
		}
		if err := s.keys[r.KeyID].Exceeds(use, to.Charge().Credits); err != nil {
			return imagegen.Record{}, err
		}
		if err := s.books.At(tx, at).Charge(to.Charge(), imagegen.Key{}); err != nil {
			return imagegen.Record{}, err
		}
`,
		catcher: catcher{pkg: memory, run: "TestJoint"},
	},
	{
		name: "refund-on-its-own-day", breaks: "what comes back counts on the day of its charge",
		file:    "imagegen/storage/internal/ledger/usage.go",
		old:     `	day := e.Charged`,
		new:     `	day := e.Time`,
		catcher: catcher{pkg: memory, run: "TestCreditAdmin"},
	},
	{
		name: "refunds-count-against-limits", breaks: "a limit counts charges minus refunds",
		file:    "imagegen/storage/internal/ledger/usage.go",
		old:     `		counts := row.Charged - row.Refunded`,
		new:     `		counts := row.Charged`,
		catcher: catcher{pkg: memory, run: "TestJoint"},
	},
}
