// Package account is about the people of a service: users and their API keys, how they
// sign in to the console, the keys of operators' programs, and the audit trail. A secret
// is shown once, when it is made; only its hash is stored.
//
// Accounts and OperatorKeys hold the rules. LoginStore, OperatorKeyStore and TrailStore
// are what a store keeps for them in addition to [imagegen.Store].
package account
