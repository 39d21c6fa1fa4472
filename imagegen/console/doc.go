// Package console serves an account area to browsers: users see their keys, credits and generations
// and try the models; operators see users and the state of the service.
//
//	c, err := console.New(console.Config{Engine: engine, Ledger: db, Logins: db})
//	mux.Handle("/console/", c)
//
// Nobody has a password to begin with. [SetupLink] makes the one-time link by which the first operator
// chooses a name and a password, [InvitationLink] the one by which a user does. Passwords are kept as argon2id
// hashes, links and sign-ins as SHA-256 hashes of 256 random bits. A sign-in ends after 30 minutes
// without use, and after 12 hours in any case.
//
// Who signs in is a user of [engine.Engine.Accounts]. What is another's is answered as what is not
// there, and what is the operators' as well; an operator sees what others were charged, not what they
// asked for nor what they got.
//
// Pages are plain HTML that works without scripts. All that they need is embedded: a browser asks no
// other host for anything, and a strict Content-Security-Policy sees to it.
package console
