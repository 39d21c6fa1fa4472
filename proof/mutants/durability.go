package main

// What is acknowledged is there after a kill, a power cut and a failing disk.
var ofDurability = []mutant{
	{
		name: "image-not-flushed", breaks: "a published image outlives a power cut",
		file:    "imagegen/storage/files.go",
		old:     `return unwritten(file.Sync())`,
		new:     `return unwritten(nil)`,
		catcher: catcher{pkg: disk, run: "TestAPowerCut"},
	},
	{
		name: "directory-not-flushed", breaks: "the name of an image outlives a power cut",
		file:    "imagegen/storage/files.go",
		old:     `return f.syncDir(path.Dir(name))`,
		new:     `return nil`,
		catcher: catcher{pkg: disk, run: "TestAPowerCut"},
	},
	{
		name: "removal-not-flushed", breaks: "an erased image stays erased",
		file:    "imagegen/storage/images.go",
		old:     `return i.files.syncDir(shard)`,
		new:     `return nil`,
		catcher: catcher{pkg: disk, run: "TestAPowerCut"},
	},
	{
		name: "database-not-flushed", breaks: "a commit outlives a power cut",
		file:    "imagegen/storage/bolt.go",
		old:     `InitialMmapSize: reserve, NoStatistics: true}`,
		new:     `InitialMmapSize: reserve, NoStatistics: true, NoSync: true}`,
		catcher: catcher{pkg: disk, run: "TestAPowerCut"},
	},
	{
		name: "answer-before-commit", breaks: "nothing is acknowledged before it is durable",
		file: "imagegen/storage/committer.go",
		old: `	err := guard(func() error { return d.commit(t.bolt) })
	d.observe(time.Since(began), len(ops), err)
	if err == nil {
		t.committed()
		d.durable.set(id)
		return acknowledge(ops)
	}
`,
		new: `	t.committed()
	answered = acknowledge(ops)
	err := guard(func() error { return d.commit(t.bolt) })
	d.observe(time.Since(began), len(ops), err)
	if err == nil {
		d.durable.set(id)
		return answered
	}
`,
		catcher: catcher{pkg: disk, run: "TestADiskFaultStopsEverything"},
	},
	{
		name: "read-before-flush", breaks: "nobody reads what a power cut may take back",
		file:    "imagegen/storage/database.go",
		old:     `moved := d.durable.pending(id)`,
		new:     `moved := d.durable.pending(id * 0)`,
		catcher: catcher{pkg: disk, run: "TestAReaderSeesOnlyWhatIsDurable"},
	},
	{
		name: "writes-go-on", breaks: "after a failed commit nothing more is written",
		file:    "imagegen/storage/committer.go",
		old:     `if d.Err() != nil {`,
		new:     `if d.Err() != nil && len(ops) > 1 {`,
		catcher: catcher{pkg: disk, run: "TestADiskFaultStopsEverything"},
	},
	{
		name: "commit-retried", breaks: "a commit whose outcome is unknown is not made again",
		file:    "imagegen/storage/committer.go",
		old:     `		d.fail(err)` + "\n",
		new:     `		if d.makeRoom() { return d.transact(ops) }` + "\n" + `		d.fail(err)` + "\n",
		catcher: catcher{pkg: disk, run: "TestADiskFaultStopsEverything"},
	},
	{
		name: "eio-survivable", breaks: "a disk that fails under a write is no full disk",
		file:    "imagegen/storage/errors.go",
		old:     `return ok && p.Op == "write" && isFull(p)`,
		new:     `return ok && p.Op == "write"`,
		catcher: catcher{pkg: disk, run: "TestADiskFaultStopsEverything"},
	},
	{
		name: "full-disk-fatal", breaks: "a full disk is survived",
		file:    "imagegen/storage/errors.go",
		old:     `return ok && p.Op == "write" && isFull(p)`,
		new:     `return ok && p.Op == "never" && isFull(p)`,
		catcher: catcher{pkg: disk, run: "TestAFullDiskIsSurvived"},
	},
	{
		name: "shown-but-unwritten", breaks: "what readers see of a failed commit is never acknowledged",
		file:    "imagegen/storage/committer.go",
		old:     `case !survivable(err) || d.shows(id):`,
		new:     `case !survivable(err):`,
		catcher: catcher{pkg: disk, run: "TestAFullDiskThatShowsWhatItDidNotWrite"},
	},
	{
		name: "checksum-ignored", breaks: "damage is noticed where it is read",
		file:    "imagegen/storage/checksum.go",
		old:     `if n < 0 || binary.BigEndian.Uint32(stored[n:]) != `,
		new:     `if n < 0 || n > 1<<40 && binary.BigEndian.Uint32(stored[n:]) != `,
		catcher: catcher{pkg: disk, run: "TestADamagedValueIsAnErrorWhereItIsRead"},
	},
	{
		name: "unclean-not-checked", breaks: "after a failed commit the next start checks the whole file",
		file:    "imagegen/storage/bolt.go",
		old:     `suspect := !errors.Is(err, fs.ErrNotExist)`,
		new:     `suspect := err != nil && !errors.Is(err, fs.ErrNotExist)`,
		catcher: catcher{pkg: disk, run: "TestADiskFaultStopsEverything|TestADamagedFileIsRefused"},
	},
	{
		name: "audit-blind", breaks: "an audit holds every image against its hash",
		file:    "imagegen/storage/audit.go",
		old:     `case [32]byte(hash.Sum(nil)) != i.SHA256:`,
		new:     `case [32]byte(hash.Sum(nil)) == [32]byte{}:`,
		catcher: catcher{pkg: disk, run: "TestAuditFindsDamage"},
	},
	{
		name: "spool-not-swept", breaks: "what a killed process has left goes at the next start",
		file:    "imagegen/storage/upkeep.go",
		old:     `return db.clear(spoolDir, "", kept)`,
		new:     `return db.clear(spoolDir, "none", kept)`,
		catcher: catcher{pkg: disk, run: "TestStartRemovesWhatIsLeftOver"},
	},
	{
		name: "refusal-told-of-a-write", breaks: "ErrNotApplied means that nothing was written",
		file: "imagegen/storage/committer.go",
		old: `		why = kv.NotBegun(ctx)
`,
		new: `		return kv.NotBegun(ctx)
`,
		catcher: catcher{pkg: disk, run: "TestAContextIsHonouredUntilTakenUp"},
	},
	{
		name: "backup-loses-images", breaks: "an image that is removed during a backup is in it",
		file:    "imagegen/storage/images.go",
		old:     `if i.backups == 0 {`,
		new:     `if i.backups >= 0 {`,
		catcher: catcher{pkg: disk, run: "TestBackupUnderLoad|TestBackupKeepsNothing"},
	},
	{
		name: "backup-loses-references", breaks: "a reference image that is removed during a backup is in it",
		file:    "imagegen/storage/backup.go",
		old:     `return b.uploads.open(b.ctx, i.Upload)`,
		new:     `return b.db.spool.files.open(b.ctx, i.path())`,
		catcher: catcher{pkg: disk, run: "TestWaitingWorkSurvivesABackup"},
	},
	{
		name: "backup-without-references", breaks: "after a restoration waiting work is done",
		file:    "imagegen/storage/uploads.go",
		old:     `err := u.files.root.Link(i.path(), u.path(i.Upload))`,
		new:     `err := error(fs.ErrNotExist)`,
		catcher: catcher{pkg: disk, run: "TestWaitingWorkSurvivesABackup"},
	},
	{
		name: "reference-restored-unchecked", breaks: "what was altered in an archive is not restored",
		file:    "imagegen/storage/audit.go",
		old:     `a.files.take(x), eachUpload(x, a.files.add))`,
		new:     `a.files.take(x))`,
		catcher: catcher{pkg: disk, run: "TestAnAlteredReferenceIsRefused"},
	},
	{
		name: "audit-holds-the-database", breaks: "nobody waits for an audit",
		file:    "imagegen/storage/snapshot.go",
		old:     `	s, err := db.copyDatabase(ctx, func(*tx) error { return nil })`,
		new:     `	if db != nil { return db.file.view(ctx, func(t *tx) error { return look(t.bolt) }) }` + "\n" + `	s, err := db.copyDatabase(ctx, func(*tx) error { return nil })`,
		catcher: catcher{pkg: disk, run: "TestNobodyWaitsForABackupOrAnAudit"},
	},
	{
		name: "no-addresses-reserved", breaks: "a file grows while somebody reads",
		file:    "imagegen/storage/bolt.go",
		old:     `return int(mapReserve + 2*size)`,
		new:     `return int(size)`,
		catcher: catcher{pkg: disk, run: "TestNobodyWaitsForAReader"},
	},
	{
		name: "start-does-not-settle", breaks: "what is read after a start outlives a power cut",
		file:    "imagegen/storage/bolt.go",
		old:     `if err := settle(bolt); err != nil {`,
		new:     `if err := error(nil); err != nil {`,
		catcher: catcher{pkg: disk, run: "TestWhatShowsAtAStartOutlivesAPowerCut"},
	},
	{
		name: "pages-not-checked", breaks: "a page that is in use and free is found",
		file:    "imagegen/storage/bolt.go",
		old:     `		report(wrong)`,
		new:     `		_ = wrong`,
		catcher: catcher{pkg: disk, run: "TestALivePageThatIsFree"},
	},
	{
		name: "refusal-moves-the-durable", breaks: "behind a refusal nobody reads what is not flushed",
		file:    "imagegen/storage/committer.go",
		old:     `	case t.written == 0: // refusals, and what stood already: no commit for those` + "\n",
		new:     `	case t.written == 0:` + "\n" + `		d.durable.set(bolt.ID())` + "\n",
		catcher: catcher{pkg: disk, run: "TestAReaderBehindARefusal"},
	},
	{
		name: "directory-believed-durable", breaks: "the directory of an image is durable before the image is told of",
		file: "imagegen/storage/images.go",
		old: `	if err := i.files.syncDir(imagesDir); err != nil {
		return notApplied(err)
	}
	for _, n := range made {
		i.shards[n] = true
	}
`,
		new: `	for _, n := range made {
		i.shards[n] = true
	}
	if err := i.files.syncDir(imagesDir); err != nil {
		return notApplied(err)
	}
`,
		catcher: catcher{pkg: disk, run: "TestADirectoryWhoseNameIsNotFlushed"},
	},
	{
		name: "restored-not-flushed", breaks: "what was restored outlives a power cut",
		file:    "imagegen/storage/restore.go",
		old:     `return n, errors.Join(err, f.Sync(), f.Close())`,
		new:     `return n, errors.Join(err, f.Close())`,
		catcher: catcher{pkg: disk, run: "TestARestorationOutlivesAPowerCut"},
	},
	{
		name: "spool-not-flushed", breaks: "the name of a reference image that is kept is durable",
		file:    "imagegen/storage/spool.go",
		old:     `return s.files.syncDir(spoolDir)`,
		new:     `return nil`,
		catcher: catcher{pkg: disk, run: "TestKeepFlushesNames"},
	},
	{
		name: "sparse-restored", breaks: "a few KiB that are restored fill no disk",
		file:    "imagegen/storage/restore.go",
		old:     `if strings.HasPrefix(key, "GNU.sparse.") {`,
		new:     `if strings.HasPrefix(key, "GNU.sparse.") && h.Size < 0 {`,
		catcher: catcher{pkg: disk, run: "TestASparseArchiveIsRefused"},
	},
	{
		name: "damaged-stops-all", breaks: "one damaged generation stops nobody else",
		file:    "imagegen/storage/internal/tables/queue.go",
		old:     `damaged := errors.AsType[kv.Damage](err); damaged {`,
		new:     `damaged := errors.AsType[kv.Damage](err); damaged && f.ID == "" {`,
		catcher: catcher{pkg: disk, run: "TestADamagedGenerationStopsNobody"},
	},
	{
		name: "references-of-the-damaged-swept", breaks: "while a record cannot be read, references are nobody's leftovers",
		file:    "imagegen/storage/upkeep.go",
		old:     `if len(damaged) > 0 {`,
		new:     `if len(damaged) > 1 {`,
		catcher: catcher{pkg: disk, run: "TestADamagedGenerationStopsNobody"},
	},
	{
		name: "digest-not-compared", breaks: "an audit misses a key that was lost",
		file:    "imagegen/storage/internal/table/check.go",
		old:     `t.witnessed && goOn() && kept != d {`,
		new:     `t.witnessed && goOn() && kept == (digest{}) {`,
		catcher: catcher{pkg: disk, run: "TestAuditMissesWhatIsDeleted"},
	},
	{
		name: "index-not-compared", breaks: "an audit finds what an index has lost, and what does not belong in it",
		file:    "imagegen/storage/internal/table/check.go",
		old:     `place == nil || !bytes.Equal(place, e.Under) || !bytes.Equal(value, present) {`,
		new:     `place == nil {`,
		catcher: catcher{pkg: "./imagegen/storage/internal/table", run: "TestCheckFinds"},
	},
	{
		name: "two-processes-for-one", breaks: "what is right only because one process remembers it passes no suite with two handles",
		file:    "imagegen/storage/internal/tables/write_test.go",
		old:     `		return one, one` + "\n",
		new:     `		return one, open(t, db)` + "\n",
		catcher: catcher{pkg: tables, run: "TestShared"},
	},
	{
		name: "reference-not-flushed", breaks: "the reference images of work that was accepted outlive a power cut",
		file:    "imagegen/storage/spool.go",
		old:     `if err := s.files.sync(ctx, spoolPath(id)); err != nil {`,
		new:     `if f, err := s.files.open(ctx, spoolPath(id)); err != nil || f.Close() != nil {`,
		catcher: catcher{pkg: disk, run: "TestAPowerCut$"},
	},
	{
		name: "start-does-not-settle-a-fault", breaks: "what a start tells of after a fault outlives a power cut",
		file:    "imagegen/storage/settle.go",
		old:     `_, err := f.WriteAt(page, at)`,
		new:     `_, err := f.WriteAt(nil, at)`,
		catcher: catcher{pkg: disk, run: "TestAFaultAndThenAPowerCut"},
	},
	{
		name: "start-settles-by-a-commit", breaks: "a start reuses no page before what it shows is durable",
		file:    "imagegen/storage/bolt.go",
		old:     `if err := settle(bolt); err != nil {`,
		new:     `if err := bolt.Update(func(*bbolt.Tx) error { return nil }); err != nil {`,
		catcher: catcher{pkg: disk, run: "TestAnOpeningSparesWhatAPowerCutMayLeave"},
	},
	{
		name: "migrates-before-it-settles", breaks: "a migration begins when what shows is durable",
		file: "imagegen/storage/bolt.go",
		old: `	if err := settle(bolt); err != nil {
		return err
	}
	return migrate(bolt)
`,
		new: `	if err := migrate(bolt); err != nil {
		return err
	}
	return settle(bolt)
`,
		catcher: catcher{pkg: disk, run: "TestWhatShowsIsDurableBeforeAMigration"},
	},
}
