// Package model proves that ledger and engine do what two plain models say, whatever follows on what.
// rapid draws runs of about 100 steps and shrinks what fails, in virtual time. TestLedger holds every
// operation of a CreditAdmin against books that share no code with it; TestService, a whole engine (every
// answer, status, image, credit and list, over jumps of the clock, drains, crashes and restarts) against
// orders and those books, with the memory storage, the default one, and a ledger that shares no
// transaction. The laws need no model.
package model
