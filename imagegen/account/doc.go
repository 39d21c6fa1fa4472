// Package account manages users and their API keys, and the keys of operators' programs. It also
// defines what a store keeps about them in addition to [imagegen.Store]: how users sign in to the
// console (LoginStore), operator keys (OperatorKeyStore), and the audit trail (TrailStore). The raw
// key is shown once, when it is made; only its hash is stored.
package account
