package main

// Nobody is let in, or let do, who has not proved who they are.
var ofSignIn = []mutant{
	{
		name: "confirmation-for-ever", breaks: "what lasts is asked about again after five minutes",
		file:    "imagegen/console/confirm.go",
		old:     `return age >= 0 && age < confirmedFor`,
		new:     `return age >= 0`,
		catcher: catcher{pkg: consoles, run: "TestConfirm"},
	},
	{
		name: "confirmation-without-a-password", breaks: "who confirms has the password",
		file: "imagegen/console/confirm.go",
		old:  `if !f.values.Has(confirmation) {`,
		new: `if f.values.Has(confirmation) {
		return true, nil
	} else if true {`,
		catcher: catcher{pkg: consoles, run: "TestConfirm"},
	},
}
