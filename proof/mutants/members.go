package main

const accounting = "imagegen/storage/internal/ledger/usage.go"

// A sponsor pays for its members, each within its limits, and for nobody else.
var ofMembers = []mutant{
	{name: "member-charged", breaks: "a sponsor pays for its members",
		file: "imagegen/record.go", in: "Record.Charge",
		edit:    replace(`r.Account()`, `r.User`),
		catcher: by(memory, "TestJoint")},
	{name: "member-unlimited", breaks: "no member is charged beyond its limits",
		file: accounting, in: "openAccount.allows",
		edit:    never(`by.Member.Limits.Count()`),
		catcher: by(memory, "TestJoint")},
	{name: "member-use-of-another", breaks: "use is counted for the member that was charged for",
		file: accounting, in: "Entry.Bills",
		edit:    replace(`MemberKey(e.Member)`, `MemberKey(e.User)`),
		catcher: by(memory, "TestJoint")},
	{name: "member-left-and-charged", breaks: "a sponsor pays nothing new once it pays no more",
		file: "imagegen/storage/internal/rules/rules.go", in: "pays",
		edit:    never(`u.Sponsor != r.Payer`),
		catcher: by(memory, "TestJoint")},
	{name: "member-sees-a-former-sponsor", breaks: "a balance is never that of a former sponsor",
		file: "imagegen/storage/internal/rules/rules.go", in: "Settle",
		edit:    always(`err == nil && u.Sponsor == r.Payer`),
		catcher: catcher{linear, "TestMemory", 10}},
	{name: "member-for-nothing", breaks: "people who are refused are not written down",
		file: "imagegen/engine/person.go", in: "Session.join",
		edit:    never(`s.engine.hasLess(ctx, s.owner.ID, cost)`),
		catcher: catcher{model, "TestService$", 50}},
}
