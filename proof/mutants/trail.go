package main

const (
	trails   = "./imagegen/storage/internal/trail"
	consoles = "./imagegen/console"
)

// Whoever does something is on record for it.
var ofTrail = []mutant{
	{
		name: "act-without-its-row", breaks: "an act and its row share one transaction",
		file: "imagegen/storage/internal/trail/trail.go",
		old:  `		return note(tx, row(account.TrailDone))`,
		new: `		_ = note(tx, row(account.TrailDone))
		return nil`,
		catcher: catcher{pkg: trails, run: "TestNoActWithoutItsRow"},
	},
	{
		name: "trail-chain-unchecked", breaks: "an audit notices a row that was changed or taken out",
		file:    "imagegen/storage/internal/trail/check.go",
		old:     `		case hash != kv.Chained(last.hash, stored[:len(stored)-len(hash)]):`,
		new:     `		case false:`,
		catcher: catcher{pkg: trails, run: "TestCheck"},
	},
	{
		name: "trail-end-unchecked", breaks: "an audit notices that the newest rows are gone",
		file:    "imagegen/storage/internal/trail/check.go",
		old:     `err != nil || head != last {`,
		new:     `err != nil {`,
		catcher: catcher{pkg: trails, run: "TestCheck"},
	},
	{
		name: "guesses-fill-the-disk", breaks: "sign-ins that fail leave a bounded number of rows a minute",
		file:    "imagegen/storage/internal/trail/signins.go",
		old:     `if !known && len(f.counts) >= mostOrigins {`,
		new:     `if !known && len(f.counts) < 0 {`,
		catcher: catcher{pkg: memory, run: "TestTrail"},
	},
	{
		name: "password-typed-as-a-name", breaks: "the trail holds no secrets",
		file:    "imagegen/console/actor.go",
		old:     `t.SignInFailed(ctx, u.ID, from)`,
		new:     `t.SignInFailed(ctx, u.ID+imagegen.UserID(name), from)`,
		catcher: catcher{pkg: consoles, run: "TestFailedSignInsInTheTrail"},
	},
	{
		name: "nobody-acts-in-the-console", breaks: "a row says who acted, and from where",
		file:    "imagegen/console/page.go",
		old:     `	p.act(p.person.User)`,
		new:     `	_ = p.act`,
		catcher: catcher{pkg: consoles, run: "TestEveryDeedLeavesItsRow"},
	},
	{
		name: "view-without-its-row", breaks: "what an operator looks at is on record",
		file:    "imagegen/console/usergenerations.go",
		old:     `if err := p.viewed(u); err != nil {`,
		new:     `if err := error(nil); err != nil {`,
		catcher: catcher{pkg: consoles, run: "TestEveryDeedLeavesItsRow"},
	},
}
