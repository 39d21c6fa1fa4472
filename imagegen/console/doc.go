// Package console serves an account area for browsers. Users see their keys, credits and generations, and try
// the models; operators see the users and the state of the service.
//
//	c, err := console.New(console.Config{Engine: engine, Ledger: db, Logins: db})
//	mux.Handle("/console/", c)
//
// # How it is built
//
// The pages are in rooms: packages below internal such as signin, operator and playground. The table in routes.go has a
// line for each page and action, which says who may open it and which handler of which room answers. Every request to
// one of them becomes a Page of package frame, which determines who is signed in, checks access, calls the handler and
// turns its error into an answer. A handler reads a form, calls the engine, the ledger or the login store, and either
// renders a template or redirects. Nearly every page has a file and a template of its own. Rooms depend on the frame,
// which knows none of them. The console keeps only data in memory that is bounded and can be lost: how upstreams have
// answered, and sums for the overview. Everything else is in the stores, or sealed in the browser.
//
// Pages are plain HTML that works without scripts. A script that requests part of a page, by htmx, gets a block of
// the same template. Everything that a page needs is embedded: the browser loads nothing from another host, which
// a strict Content-Security-Policy enforces.
//
// The package does not use the HTTP API, and contains no rules about generations or credits: the engine and the
// ledger implement these.
//
// # Sign-in
//
// Initially nobody has a password. [SetupLink] makes the one-time link with which the first operator chooses a name
// and a password; [InvitationLink] makes the one with which any other user chooses a password. Passwords are kept
// as argon2id hashes, links and sign-ins as SHA-256 hashes of 256 random bits. A sign-in ends after 30 minutes
// without use, and after 12 hours in any case.
//
// Everybody who signs in is a user of [engine.Engine.Accounts]. If a user asks for something that belongs to another
// user, or for an operators' page, the console answers as if it did not exist. An operator sees what other users were
// charged, but neither their prompts nor their images.
package console
