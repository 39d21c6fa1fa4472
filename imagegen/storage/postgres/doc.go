// Package postgres is a storage in PostgreSQL, for any number of processes that share it: generations, the
// queue, users and keys, credits with their journal, sign-ins and the audit trail. Images and uploads lie
// elsewhere.
//
// Each process has a committer, which serves many calls by one transaction of two round trips: it locks the
// accounts and reads what the calls need, decides by the rules that every storage of this module shares, and
// writes. Calls that an operator makes have transactions of their own.
//
// Needed of the database: PostgreSQL 14 or later, READ COMMITTED, row locks, SKIP LOCKED, ON CONFLICT and
// partial indexes. Nothing of a session is relied on, so that it may stand behind PgBouncer in transaction mode.
package postgres
