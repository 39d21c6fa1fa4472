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
		file:    "imagegen/console/confirm.go",
		old:     `_, err = p.c.checkPassword(p, v.Form, confirmation)`,
		new:     `err = nil`,
		catcher: catcher{pkg: consoles, run: "TestConfirm"},
	},
	{
		name: "copied-passkey", breaks: "a passkey whose count does not rise is refused",
		file:    "imagegen/account/passkey.go",
		old:     `if uses <= p.Uses && (uses != 0 || p.Uses != 0) {`,
		new:     `if uses < p.Uses && uses == p.Uses {`,
		catcher: catcher{pkg: memory, run: "TestPasskeys"},
	},
	{
		name: "password-alone", breaks: "who has a passkey is asked for it, by whatever way they sign in",
		file:    "imagegen/console/admit.go",
		old:     `if len(have) == 0 {`,
		new:     `if len(have) == 0 || e.confirmed.IsZero() {`,
		catcher: catcher{pkg: consoles, run: "TestNoWayAroundThePasskey"},
	},
	{
		name: "confirmation-of-another", breaks: "a passkey confirms in the browser in which it was asked for",
		file:    "imagegen/console/confirm.go",
		old:     `k.purpose != toConfirm || k.signIn != p.person.signIn.Hash {`,
		new:     `k.purpose != toConfirm {`,
		catcher: catcher{pkg: consoles, run: "TestCeremoniesOfTheirKind"},
	},
	{
		name: "ceremony-replayed", breaks: "what a browser comes back with counts once",
		file: "imagegen/console/waiting.go",
		old: `	delete(w.items, hash)
`,
		new:     ``,
		catcher: catcher{pkg: consoles, run: "TestPasskeyReplay|TestProviderReplay"},
	},
	{
		name: "operators-without-a-passkey", breaks: "an operator without the passkey that is demanded sees nothing of the operators'",
		file:    "imagegen/console/page.go",
		old:     `if p.route.access == operator {`,
		new:     `if p.route.access == operator && p.r.Method != "POST" {`,
		catcher: catcher{pkg: consoles, run: "TestOperatorsNeedPasskey"},
	},
	{
		name: "passkey-unverified", breaks: "to confirm, a passkey finds out who uses it",
		file:    "imagegen/console/confirm.go",
		old:     `p.askForPasskey(p.person.User, have, k, true)`,
		new:     `p.askForPasskey(p.person.User, have, k, false)`,
		catcher: catcher{pkg: consoles, run: "TestConfirmByPasskey"},
	},
	{
		name: "oidc-nonce-unchecked", breaks: "a token answers the request that it was asked by",
		file:    "imagegen/console/oidc/oidc.go",
		old:     `case !same(token.Nonce, v.Nonce):`,
		new:     `case false:`,
		catcher: catcher{pkg: consoles + "/oidc", run: "TestLies"},
	},
	{
		name: "oidc-state-unchecked", breaks: "a browser comes back with the state that it was sent with",
		file:    "imagegen/console/oidc/oidc.go",
		old:     `if !same(query.Get("state"), v.State) {`,
		new:     `if false {`,
		catcher: catcher{pkg: consoles + "/oidc", run: "TestReturn"},
	},
	{
		name: "oidc-asked-before", breaks: "who confirms at the provider proves anew who they are",
		file:    "imagegen/console/oidc/oidc.go",
		old:     `case !v.Again.IsZero() && time`,
		new:     `case v.Again.IsZero() && time`,
		catcher: catcher{pkg: consoles + "/oidc", run: "TestAgain"},
	},
	{
		name: "known-by-name", breaks: "issuer and subject make somebody a user, never a name",
		file: "imagegen/console/elsewhere.go",
		old: `	if errors.Is(err, imagegen.ErrExists) {
		p.signInFailed("")
`,
		new: `	if errors.Is(err, imagegen.ErrExists) {
		if u, err := c.cfg.Engine.Accounts().UserByName(p.context(), who.Name); err == nil {
			return u, nil
		}
		p.signInFailed("")
`,
		catcher: catcher{pkg: consoles, run: "TestProviderNamesNobody"},
	},
}
