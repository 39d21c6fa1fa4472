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
	openAI         = work{openAI: true}
	openAIInMemory = work{openAI: true, memory: true}
	encoded        = work{openAI: true, encoded: true}
	ready          = work{}
	readyInMemory  = work{memory: true}
)

// of is the work of one picture.
func (w work) of(p picture) work {
	w.picture = p
	return w
}

// at has so many callers ask for it at once.
func (w work) at(connections int) generation { return generation{work: w, connections: connections} }

// intake takes in work for a provider that takes hours.
var intake = generation{work: ready.of(least), connections: 64, async: true}

// shape is what a client of OpenAI's asks for.
var shape = shaped(openAI.of(photo).at(64))

var tables = []table{
	{[]string{"What", "A second", "To the reference", "To the upstream called directly", "Processor time",
		"To the reference's"}, []row{
		openAI.of(least).at(1).against(targets{}),
		openAI.of(least).at(32).against(targets{reference: atLeast(0.5)}),
		openAI.of(least).at(64).against(targets{reference: atLeast(0.5)}),
		openAI.of(photo).at(1).against(targets{}),
		openAI.of(photo).at(32).against(targets{direct: atLeast(0.33)}),
		openAI.of(photo).at(64).against(targets{reference: atLeast(0.6)}),
		openAI.of(jpg).at(32).against(targets{}),
		openAI.of(webp).at(32).against(targets{}),
		openAI.of(poster).at(4).against(targets{processor: atMost(1.5)}),
		openAIInMemory.of(least).at(1).against(targets{}),
		openAIInMemory.of(least).at(32).against(targets{}),
		openAIInMemory.of(least).at(64).against(targets{}),
		openAIInMemory.of(photo).at(1).against(targets{}),
		openAIInMemory.of(photo).at(32).against(targets{}),
		openAIInMemory.of(photo).at(64).against(targets{}),
		ready.of(least).at(64).against(targets{}),
		ready.of(photo).at(64).against(targets{}),
		ready.of(jpg).at(64).against(targets{}),
		ready.of(webp).at(64).against(targets{}),
		ready.of(poster).at(4).against(targets{}),
		readyInMemory.of(least).at(64).against(targets{}),
		readyInMemory.of(photo).at(64).against(targets{}),
		contest("asynchronous intake, 64 at once", targets{reference: atLeast(0.8)}, intake.ours, intake.theirs),
		known.against(atLeast(0.8)),
		models.against(atLeast(0.9)),
		download.against(atLeast(0.9)),
		shape.againstNative(),
		aged("generation, 64 at once", ready.of(least).at(64).ours),
		aged("generation, 1 at once", ready.of(least).at(1).ours),
		aged("GET of a generation", known.ours),
		aged("GET of an image", download.ours),
		// behind all others that need the directory: it leaves a queue there
		aged("asynchronous intake, 64 at once", intake.ours),
	}},
	{[]string{"What", "A second", "To the upstream called directly", "Processor time", "Connections opened",
		"Flushes an image"}, []row{
		encoded.of(photo).at(16).besideDirect(atLeast(0.42)),
		encoded.of(photo).at(32).besideDirect(target{}),
		encoded.of(photo).at(64).besideDirect(atLeast(0.28)),
		shaped(encoded.of(photo).at(16)).besideDirect(atLeast(0.3)),
		shaped(encoded.of(photo).at(32)).besideDirect(target{}),
		shaped(encoded.of(photo).at(64)).besideDirect(atLeast(0.2)),
	}},
	{[]string{"What", "A second", "To nginx in one process", "Processor time, to nginx's"}, []row{
		file{picture: photo}.againstNginx(atLeast(0.9)),
		file{picture: photo, part: "100000-165535"}.againstNginx(atLeast(0.6)),
		file{picture: least}.againstNginx(atLeast(0.6)),
	}},
	{[]string{"What", "Target", "Measured", "Beside it"}, []row{
		alone("memory, openai, "+photo.name+", 64 at once", "≤ 150 MiB", peak(openAI.of(photo).at(64).ours)),
		alone("memory, "+shape.String(), "≤ 150 MiB", peak(shape.ours)),
		alone("added latency at half of the peak, openai, "+least.name, "p50 ≤ 1 ms, p99 ≤ 5, p99.9 ≤ 20", half),
		alone("upload of 16 × "+poster.name, "≥ 0.7", upload),
		alone("growth: charge, 1 million generations", "≤ 2", grown{user: "rich"}.measure),
		alone("growth: page, 1 million generations", "≤ 2",
			grown{user: "rich", path: "/api/v1/generations?limit=20"}.measure),
		alone("growth: charge, 100,000 lots", "≤ 2", grown{user: "lots"}.measure),
		alone("growth: balance, 100,000 lots", "≤ 2", grown{user: "lots", path: "/api/v1/credits"}.measure),
		alone("start to first answer", "< 100 ms; < 2 s with -data", startup),
		alone("idle", "< 30 MiB, ≤ 1 a second", idle),
		alone("a scrape of the metrics", "ten a second < 1 %", scrape),
		alone("binary", "< 30 MB", size),
	}},
}

// measured is the result of a row that is not a contest.
type measured struct{ figure, detail string }

func alone(name, target string, measure func(context.Context, *bench) (measured, error)) row {
	return row{name, func(ctx context.Context, b *bench) ([]string, error) {
		m, err := measure(ctx, b)
		return []string{target, m.figure, m.detail}, err
	}}
}
