package main

const (
	trails   = "./imagegen/storage/internal/trail"
	consoles = "./imagegen/console"
)

// Everybody who does something is on record for it.
var ofTrail = []mutant{
	{name: "act-without-its-row", breaks: "an act and its row share one transaction",
		file: "imagegen/storage/internal/trail/trail.go", in: "Act",
		edit:    replace(`return note(tx, row(account.TrailDone))`, `_ = note(tx, row(account.TrailDone)); return nil`),
		catcher: by(trails, "TestNoActWithoutItsRow")},
	{name: "trail-chain-unchecked", breaks: "an audit notices a row that was changed or taken out",
		file: "imagegen/storage/internal/trail/check.go", in: "Audit",
		edit:    never(`r.Hash != kv.Chained($*_)`),
		catcher: by(trails, "TestCheck")},
	{name: "trail-end-unchecked", breaks: "an audit notices that the newest rows are gone",
		file: "imagegen/storage/internal/trail/check.go", in: "Audit",
		edit:    never(`head != last`),
		catcher: by(trails, "TestCheck")},
	{name: "guesses-fill-the-disk", breaks: "sign-ins that fail leave a bounded number of rows a minute",
		file: "imagegen/storage/internal/trail/signins.go", in: "Failures.first",
		edit:    never(`len(f.counts) >= maxOrigins`),
		catcher: by(memory, "TestTrail")},
	{name: "password-typed-as-a-name", breaks: "the trail holds no secrets",
		file: "imagegen/console/internal/frame/trail.go", in: "Page.CountFailedSignIn",
		edit:    replace(`t.SignInFailed(ctx, u.ID, from)`, `t.SignInFailed(ctx, u.ID+imagegen.UserID(name), from)`),
		catcher: by(consoles, "TestFailedSignInsInTheTrail")},
	{name: "nobody-acts-in-the-console", breaks: "a row says who acted, and from where",
		file: "imagegen/console/internal/frame/page.go", in: "Page.admitAndHandle",
		edit:    replace(`p.SetActor(p.Person.User)`, `_ = p.SetActor`),
		catcher: by(consoles, "TestEveryDeedLeavesItsRow")},
	{name: "namesake-hides-rows", breaks: "a user with the name of a webhook hides none of its rows",
		file: "imagegen/account/accounts.go", in: "Accounts.TrailTargets",
		edit:    replace(`[]string{s, string(u.ID)}`, `[]string{string(u.ID)}`),
		catcher: by("./cmd/imagegend/internal/adminserver", "TestTrailOfANamesake")},
	{name: "view-without-its-row", breaks: "what an operator looks at is on record",
		file: "imagegen/console/internal/frame/trail.go", in: "Viewed",
		edit:    never(`t != nil`),
		catcher: by(consoles, "TestEveryDeedLeavesItsRow")},
}
