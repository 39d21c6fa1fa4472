// Package console serves an account area to browsers. Users see their keys, credits and generations and try
// the models; operators see the users and the state of the service.
//
//	c, err := console.New(console.Config{Engine: engine, Ledger: db, Logins: db})
//	mux.Handle("/console/", c)
//
// # How it is built
//
// A line of the table in routes.go names each page and action, and says who may open it. Every request to one of
// them becomes a page (page.go), which finds out who is signed in, checks access, calls the handler and turns its
// error into an answer. A handler reads a form (form.go), calls the engine, the ledger or the login store, and
// either renders a template or redirects. Nearly every page has a file and a template of its own. What the console
// itself remembers is in memory, bounded, and can be lost: counts of sign-ins, what a browser is about to come back
// for, a new key until it is shown, sums for the overview. Everything else is in the stores.
//
// Pages are plain HTML that works without scripts. A script that asks for part of a page, by htmx, gets a block of
// the same template. Everything that a page needs is embedded: the browser asks no other host for anything, which
// a strict Content-Security-Policy enforces.
//
// The package is not a client of the HTTP API, and contains no rules about generations or credits: those are the
// engine's and the ledger's.
//
// # Sign-in
//
// Initially nobody has a password. [SetupLink] makes the one-time link with which the first operator chooses a name
// and a password; [InvitationLink] makes the one with which any other user chooses a password. Passwords are kept
// as argon2id hashes, links and sign-ins as SHA-256 hashes of 256 random bits. A sign-in ends after 30 minutes
// without use, and after 12 hours in any case.
//
// Whoever signs in is a user of [engine.Engine.Accounts]. What belongs to another user is answered as if it did not
// exist, and so are the operators' pages for everybody else. An operator sees what others were charged, but neither
// their prompts nor their images.
package console
