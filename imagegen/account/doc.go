// Package account manages who may use a service: users and their API keys. A key is shown once, when it
// is made; what is kept is its hash.
package account
