// Package linear proves that the ledger is linearizable: whatever many clients do to it at once, every
// answer is one that it could have given had they come one after the other, each at some moment
// between its call and its answer.
//
// Clients charge, settle, void, grant, revoke and read on a few accounts, by the ledger and by the
// joint commits of the store, and porcupine looks for such an order. A call whose answer was lost may
// take place at any time or never; one that was answered ErrNotApplied must not have taken place.
package linear
