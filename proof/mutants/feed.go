package main

const feedRules = "imagegen/storage/internal/feed/feed.go"

// There is an event if and only if it is true, and a reader that goes on from its place misses none.
var ofFeed = []mutant{
	{name: "end-without-event", breaks: "each end of a generation has its event",
		file: feedRules, in: "OfRecord",
		edit:    never(`!from.Terminal() && to.Terminal()`),
		catcher: by(memory, "TestFeed$/Replayed")},
	{name: "refund-without-event", breaks: "added up, the credits of all events are the balances",
		file: feedRules, in: "OfRecord",
		edit:    replace(`charged - to.Used()`, `0`),
		catcher: by(memory, "TestFeed$/Replayed")},
	{name: "event-without-payer", breaks: "the credits of a member's generation are its sponsor's",
		file: feedRules, in: "OfRecord",
		edit:    replace(`to.Payer`, `""`),
		catcher: by(memory, "TestFeed$/Kinds")},
	{name: "low-again", breaks: "a low balance has one event, until it was above",
		file: feedRules, in: "Fell.Low",
		edit:    always(`below <= f.From`),
		catcher: by(memory, "TestFeed$/Low")},
	{name: "nothing-lost", breaks: "a reader whose place was removed hears of it",
		file: feedRules, in: "Lost",
		edit:    never(`after != 0 && after < removed`),
		catcher: by(memory, "TestFeed$/Tidied")},
	{name: "read-twice", breaks: "a reader gets what is behind its place, and nothing again",
		file: "imagegen/storage/internal/tables/feed.go", in: "Tables.Feed",
		edit:    replace(`after+1`, `after`),
		catcher: by(disk, "TestFeed$/Repeated")},
	{name: "numbers-by-the-clock", breaks: "nothing appears behind a place that was read, also if the clock goes back",
		file: feedRules, in: "Next",
		edit:    replace(`last+1`, `0`),
		catcher: by(disk, "TestFeed$/Race")},
	{name: "host-without-event", breaks: "what a host's transaction brings has its event",
		file: "imagegen/storage/postgres/feed.go", in: "session.tellRow",
		edit:    replace(`s.db.tables.KeepsFeed()`, `s.db.tables.KeepsFeed() && !s.hosted`),
		catcher: by(shared, "TestFeedBesideOpenHostTransactions$")},
}
