// Package account is about who uses a service and who runs it: users and their API keys, how people sign in to
// the console, the keys of operators' programs, and the trail of what was done to the service. Secrets are shown
// once, when they are made; what is kept is their hashes.
//
// [Accounts] and [OperatorKeys] hold the rules; [LoginStore], [OperatorKeyStore] and [TrailStore] are what a store
// keeps for them beside what every [imagegen.Store] does.
package account
