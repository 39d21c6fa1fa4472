package main

// Several nodes share a database and an object store.
var ofNodes = []mutant{
	{name: "accounts-not-locked",
		breaks: "of two nodes that are asked at once one decides upon what the other has written",
		file:   "imagegen/storage/postgres/prefetch.go", in: "session.prefetch",
		edit: replace(`b.Queue(lockAccounts, $*args)`,
			`b.Queue(lockAccounts[:len(lockAccounts)-len(" for update")], $*args)`),
		catcher: by(shared, "TestShared/ReservationRace$")},
	{name: "cancelled-wait-acknowledged", breaks: "what no standby has confirmed is not answered as success",
		file: "imagegen/storage/postgres/tx.go", in: "session.flushAndCommit",
		edit:    never(`err == nil && s.conn.warned.Load()`),
		catcher: by(shared, "TestCancelledWait$")},
	{name: "replayed-without-a-standby", breaks: "a repeated call is answered with what a failover does not take back",
		file: "imagegen/storage/postgres/store.go", in: "DB.GenerationByIdempotencyKey",
		edit:    replace(`err = db.work($*_)`, `err = nil`),
		catcher: by(shared, "TestWhatIsReservedIsLasting$")},
	{name: "silence-unbounded", breaks: "a node notices within seconds that its database's machine is gone",
		file: "imagegen/storage/postgres/conn.go", in: "configure",
		edit:    drop(`c.ConnConfig.DialFunc = dial`),
		catcher: by(survival, "TestForgottenConnections$")},
	{name: "image-published-before-its-put", breaks: "an image lies in the object store before a record names it",
		file: "imagegen/storage/s3/images.go", in: "Images.PutImage",
		edit: replace(`return errors.Join($put, $remove)`,
			`ctx = context.WithoutCancel(ctx); go func() { _ = errors.Join($put, $remove) }(); return nil`),
		catcher: by(objects, "TestObjectStoreIsGone$")},
}
