// Package storage is the default storage: a directory, which one process at a time can have open.
//
//	db, err := storage.Open("data", nil)
//	...
//	defer db.Close()
//
// A DB is everything that an engine needs: the Store and the Ledger, which commit
// together, the ImageStore and the Spool.
//
// This package does the I/O: it opens and checks the file, commits, writes images and
// uploads, backs up, restores and audits. The packages below internal define the contents of
// the database: tables has generations, users and sign-ins, ledger has the credits, trail the
// audit trail. They see the file only as the ordered buckets of package kv, which database.go,
// committer.go and tx.go implement over bbolt.
//
// # The directory
//
//	imagegen.db   generations, the queue, users, keys, credits and sign-ins: a bbolt file
//	images/       one file for each image and each thumbnail, in up to 1024 directories
//	spool/        reference images, until their generation has ended
//	tmp/          files that are being written; emptied at each start
//	ballast       16 MiB set aside, to settle and refund when the disk is full
//	running       exists while a process has the directory open, and after one was killed
//	unclean       exists after a disk fault: the next start checks the whole file
//
// The directory must be on a local disk, not on a network filesystem. Do not copy it while it is
// in use: use DB.Backup and Restore. imagegen.db never shrinks, but reuses the space that
// becomes free in it.
//
// # What it promises
//
// An acknowledged write survives a kill and a power cut. Writes that wait are committed
// together, so that many at once cost little more than one. What a reader sees is durable
// too. An image and its file name are flushed before the record that names it is written.
//
// If the disk is nearly full, new work is refused before it is charged; running work ends as
// usual, and reads go on. If the disk fails during a commit, the outcome of the commit is unknown:
// the caller gets ErrOutcomeUnknown, nothing more is written, and the channel of DB.Failed is
// closed: the process should then end. Reading a value that is damaged on the disk returns an
// error, never a wrong value.
package storage
