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
}
