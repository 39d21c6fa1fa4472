package main

const hooks = "./imagegen/webhook"

// Events in their order, and how they get to webhooks.
var ofWebhooks = []mutant{
	{name: "place-set-unread", breaks: "a place changes only by who has read the one before it",
		file: "imagegen/storage/internal/feed/feed.go", in: "SamePlace",
		edit:    replace(`return $same`, `return true`),
		catcher: by(memory, "TestFeed/Places$")},
	{name: "resend-undone", breaks: "a delivery under way does not undo what an operator sends again",
		file: "imagegen/webhook/webhook.go", in: "Deliverer.deliverNext",
		edit:    before(`set, err := $_`, `if now, err := d.place(ctx, e); err == nil { from = now }`),
		catcher: by(hooks, "TestSendAgainWhileDelivering$")},
	{name: "turn-outlasted", breaks: "no try begins that could outlast the turn of its process",
		file: "imagegen/webhook/webhook.go", in: "Deliverer.deliverUntil",
		edit:    replace(`time.Until(end) > timeLimit`, `time.Until(end) > 0`),
		catcher: by(hooks, "TestTurnsEnd$")},
	{name: "begun-by-own-clock", breaks: "a webhook begins with what happens from then on, whatever its process's clock says",
		file: "imagegen/webhook/webhook.go", in: "Deliverer.place",
		edit:    replace(`d.feed.FeedEnd(ctx)`, `uint64(d.now().UnixMilli()), error(nil)`),
		catcher: by(hooks, "TestBeginsNow$")},
	{name: "low-out-of-order", breaks: "events of an account come in the order in which they happened",
		file: "imagegen/storage/postgres/feed.go", in: "session.flushFeed",
		edit: replace(`inEvents.queue(b, s.events, insertSome)`, `
			for n, e := range s.events { // the same list, in two statements
				if e.Kind == imagegen.FeedLow { s.events = append(append(s.events[:n:n], s.events[n+1:]...), e); break }
			}
			inEvents.queue(b, s.events, insertSome)`),
		catcher: by(shared, "TestFeed/Order$")},
	{name: "reached-by-each", breaks: "a limit that was reached has one event in each of its periods",
		file: "imagegen/engine/notices.go", in: "Engine.tellOnce",
		edit:    replace(`kept[0].IsZero()`, `true`),
		catcher: by(core, "TestLimitHasOneEvent$")},
}
