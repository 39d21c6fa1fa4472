package main

import "context"

// table is a part of what is printed.
type table struct {
	columns []string
	rows    []row
}

// row is one line of a table.
type row struct {
	name    string
	measure func(ctx context.Context, b *bench) (cells []string, err error) // those behind the name
}

var (
	openAI   = work{openAI: true}
	inMemory = work{openAI: true, memory: true}
	ready    = work{}
	kept     = work{memory: true}
)

// of is the work of one picture.
func (w work) of(p picture) work {
	w.picture = p
	return w
}

var tables = []table{
	{[]string{"What", "A second", "To the reference", "To the upstream called directly", "Processor time", "To the reference's"}, []row{
		generation{work: openAI.of(least), connections: 1}.against(targets{}),
		generation{work: openAI.of(least), connections: 32}.against(targets{reference: atLeast(0.5)}),
		generation{work: openAI.of(least), connections: 64}.against(targets{reference: atLeast(0.5)}),
		generation{work: openAI.of(photo), connections: 1}.against(targets{}),
		generation{work: openAI.of(photo), connections: 32}.against(targets{direct: atLeast(0.33)}),
		generation{work: openAI.of(photo), connections: 64}.against(targets{reference: atLeast(0.6)}),
		generation{work: openAI.of(jpg), connections: 32}.against(targets{}),
		generation{work: openAI.of(webp), connections: 32}.against(targets{}),
		generation{work: openAI.of(poster), connections: 4}.against(targets{processor: atMost(1.5)}),
		generation{work: inMemory.of(least), connections: 1}.against(targets{}),
		generation{work: inMemory.of(least), connections: 32}.against(targets{}),
		generation{work: inMemory.of(least), connections: 64}.against(targets{}),
		generation{work: inMemory.of(photo), connections: 1}.against(targets{}),
		generation{work: inMemory.of(photo), connections: 32}.against(targets{}),
		generation{work: inMemory.of(photo), connections: 64}.against(targets{}),
		generation{work: ready.of(least), connections: 64}.against(targets{}),
		generation{work: ready.of(photo), connections: 64}.against(targets{}),
		generation{work: ready.of(jpg), connections: 64}.against(targets{}),
		generation{work: ready.of(webp), connections: 64}.against(targets{}),
		generation{work: ready.of(poster), connections: 4}.against(targets{}),
		generation{work: kept.of(least), connections: 64}.against(targets{}),
		generation{work: kept.of(photo), connections: 64}.against(targets{}),
		intake("asynchronous intake, the provider takes hours", true),
		intake("asynchronous intake, the provider takes no time", false),
		known.against(atLeast(0.8)),
		models.against(atLeast(0.9)),
		download.against(atLeast(0.9)),
		aged("generation, 64 at once", generation{work: ready.of(least), connections: 64}.ours),
		aged("generation, 1 at once", generation{work: ready.of(least), connections: 1}.ours),
		aged("GET of a generation", known.ours),
		aged("GET of an image", download.ours),
		// behind all others that need the directory: it leaves a queue there
		aged("asynchronous intake", generation{work: ready.of(least), connections: 64, async: true, slow: true}.ours),
	}},
	{[]string{"What", "Target", "Measured", "Beside it"}, []row{
		alone("memory, openai, "+photo.name+", 64 at once", "≤ 150 MiB", peak),
		alone("added latency at half of the peak", "1, 5, 20 ms", half),
		alone("upload of 16 × "+poster.name, "≥ 0.7", upload),
		alone("growth: charge, 1 million generations", "≤ 2", grown{user: "rich"}.measure),
		alone("growth: page, 1 million generations", "≤ 2", grown{user: "rich", path: "/api/v1/generations?limit=20"}.measure),
		alone("growth: charge, 100,000 lots", "≤ 2", grown{user: "lots"}.measure),
		alone("growth: balance, 100,000 lots", "≤ 2", grown{user: "lots", path: "/api/v1/credits"}.measure),
		alone("start to first answer", "< 100 ms; < 2 s with -data", startup),
		alone("idle", "< 30 MiB, ≤ 1 a second", idle),
		alone("binary", "< 30 MB", size),
	}},
}

// intake takes in work that is done later.
func intake(name string, slow bool) row {
	g := generation{work: ready.of(least), connections: 64, async: true, slow: slow}
	return contest(name+", 64 at once", targets{reference: atLeast(0.8)}, g.ours, g.theirs)
}

// measured is what came of a row that is no contest.
type measured struct{ figure, detail string }

func alone(name, target string, measure func(context.Context, *bench) (measured, error)) row {
	return row{name, func(ctx context.Context, b *bench) ([]string, error) {
		m, err := measure(ctx, b)
		return []string{target, m.figure, m.detail}, err
	}}
}
