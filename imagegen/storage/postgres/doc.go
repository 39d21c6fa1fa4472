// Package postgres keeps a storage in PostgreSQL, which any number of processes can share: generations, the queue,
// users and keys, credits with their journal, sign-ins and the audit trail. It keeps neither images nor uploads;
// package s3 can.
//
// A session is one transaction. It holds the rows that were read, as they are by now, so that the rules which all
// storages of this module share read what they have written. At the end it turns what has changed into one statement
// for each kind of row. Which columns a kind of row has is said once, as a kind, which docs/schema.md explains to
// people. How a session is run depends on what it is for:
//
//   - The committer serves what requests write. It puts up to 256 calls into one transaction of two round trips.
//     The first locks the accounts and reads what the calls have said they need. Then the calls decide in this
//     process. The second writes and commits.
//   - DB.act serves acts of operators and sign-ins, in batches of their own. Of those about users, keys and sign-ins,
//     which read rows without locking them, one runs at a time, over all processes. DB.update is the same for changes of
//     the ledger that concern many users, one by one. The audit trail holds nobody up, see trail.go.
//   - DB.work serves claims, recoveries and leases. Rows that another transaction holds are passed over.
//   - DB.view and Snapshot only read, as of one moment, and lock nothing.
//
// Locks are taken in one order: accounts by their users, then generations by their identifiers. A transaction that
// meets a deadlock all the same, or a row that somebody else has just made, is run again. A call that cannot lock its
// account within a moment leaves its batch and waits alone, see taken.go.
//
// The database must be PostgreSQL 14 or later. The package uses READ COMMITTED, row locks, SKIP LOCKED, ON CONFLICT
// and partial indexes. It relies on nothing that belongs to a database session, so PgBouncer may stand between in
// transaction mode.
package postgres
