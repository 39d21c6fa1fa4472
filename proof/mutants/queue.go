package main

// Whoever waits has their turn, whatever others do.
var ofQueue = []mutant{
	{
		name: "delayed-only-when-idle", breaks: "work whose delay is over is due like any other",
		file:    "imagegen/storage/internal/tables/queue.go",
		old:     `		if err := t.admit(tx, now); err != nil {`,
		new:     `		if len(candidates(tx, d)) > 0 {` + "\n" + `		} else if err := t.admit(tx, now); err != nil {`,
		catcher: catcher{pkg: memory, run: "TestStore/ClaimDelayed"},
	},
	{
		name: "turn-never-forgotten", breaks: "the queue does not grow with the users that it once had",
		file:    "imagegen/storage/internal/tables/turns.go",
		old:     `	if len(dueOf(tx, user, 1)) > 0 {`,
		new:     `	if len(user) > 0 {`,
		catcher: catcher{pkg: memory, run: "TestStore/ClaimInTurn"},
	},
	{
		name: "retry-behind-the-backlog", breaks: "work that was begun goes ahead of its user's fresh work",
		file:    "imagegen/storage/internal/tables/buckets.go",
		old:     `	if r.Attempt == 0 {`,
		new:     `	if r.Attempt >= 0 {`,
		catcher: catcher{pkg: memory, run: "TestStore/ClaimRequeued"},
	},
	{
		name: "slots-not-counted", breaks: "new slots go to a user who holds fewer",
		file:    "imagegen/storage/internal/tables/turns.go",
		old:     `		if c.held < waiting[first].held {`,
		new:     `		if c.held < 0 {`,
		catcher: catcher{pkg: memory, run: "TestStore/ClaimFewest"},
	},
	{
		name: "kept-slots-for-anybody", breaks: "a slot is kept for a user who holds none",
		file:    "imagegen/slots.go",
		old:     `return s.free > s.kept || s.free > 0 && held == 0`,
		new:     `return s.free > 0`,
		catcher: catcher{pkg: core, run: "TestKeptSlots"},
	},
	{
		name: "slot-to-who-holds-more", breaks: "a slot that gets free goes to a user who holds fewer",
		file:    "imagegen/lines.go",
		old:     `cmp.Compare(h[i].held, h[j].held)`,
		new:     `cmp.Compare(h[j].held, h[i].held)`,
		catcher: catcher{pkg: core, run: "TestNobodyStarves"},
	},
	{
		name: "callers-before-the-queue", breaks: "callers and queued work take turns",
		file:    "imagegen/slots.go",
		old:     `		if s.turn < l.turn {`,
		new:     `		if s.turns < l.turn {`,
		catcher: catcher{pkg: core, run: "TestQueueAndCallersTakeTurns"},
	},
	{
		name: "slot-given-up-wakes-nobody", breaks: "no slot is free while somebody waits for it",
		file:    "imagegen/slots.go",
		old:     `		s.passOn(w.user)` + "\n",
		new:     `		s.free++` + "\n" + `		s.hold(w.user, -1)` + "\n",
		catcher: catcher{pkg: core, run: "TestSlotGivenUp"},
	},
	{
		name: "queue-to-one-user", breaks: "one user holds at most half of the queue",
		file:    "imagegen/shares.go",
		old:     `share := max(1, e.cfg.MaxQueued/2)`,
		new:     `share := max(1, e.cfg.MaxQueued)`,
		catcher: catcher{pkg: core, run: "TestShares"},
	},
	{
		name: "leases-end-with-the-drain", breaks: "a host that drains keeps its work",
		file:    "imagegen/lifecycle.go",
		old:     `e.prolongLeases(l.ended)`,
		new:     `e.prolongLeases(l.loop.Done())`,
		catcher: catcher{pkg: core, run: "TestDrainBesideAnotherHost"},
	},
}
