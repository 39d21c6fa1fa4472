package main

import (
	"context"
	"fmt"
)

// generation makes images.
type generation struct {
	work
	connections int
	async       bool // and the provider takes hours: what is taken in waits
}

func (g generation) String() string {
	from, on := "in process", "on disk"
	if g.openAI {
		from = "openai"
	}
	if g.memory {
		on = "in memory"
	}
	if g.encoded {
		from += " that has its answer ready"
	}
	return fmt.Sprintf("%s, %s, %s, %d at once", from, g.picture.name, on, g.connections)
}

func (g generation) ours(b *bench) (side, error) {
	p, err := b.service(g.work)
	if err != nil {
		return side{}, err
	}
	return side{p, p.generate(ourPost, g)}, nil
}

func (g generation) theirs(b *bench) (side, error) {
	p, err := b.reference(g.work)
	if err != nil {
		return side{}, err
	}
	return side{p, p.generate(theirPost, g)}, nil
}

// direct asks the upstream itself.
func (g generation) direct(b *bench) (side, error) {
	p, err := b.standin(g.work)
	if err != nil {
		return side{}, err
	}
	return side{p, p.generate(standinPost, g)}, nil
}

// targets are those of a contest.
type targets struct{ reference, direct, processor target }

// against is the row that holds the service against the reference, and the upstream called directly if there is one.
func (g generation) against(t targets) row {
	starters := []starter{g.ours, g.theirs}
	if g.openAI {
		starters = append(starters, g.direct)
	}
	return contest(g.String(), t, starters...)
}

// contest is a row of the servers ours, theirs, and perhaps the upstream itself.
func contest(name string, t targets, starters ...starter) row {
	return row{name, func(ctx context.Context, b *bench) ([]string, error) {
		turns, err := b.hold(ctx, starters...)
		if err != nil {
			return nil, err
		}
		ours, theirs, direct := turns[0], turns[1], "–"
		if len(turns) == 3 {
			direct = fmt.Sprintf("%s; the reference %.2f", t.direct.cell(ratios(ours, turns[2], rate)),
				median(ratios(theirs, turns[2], rate)))
		}
		return []string{
			fmt.Sprintf("%.0f", median(each(ours, rate))),
			t.reference.cell(ratios(ours, theirs, rate)),
			direct,
			fmt.Sprintf("%.2f ms", 1e3*median(each(ours, processor))),
			t.processor.cell(ratios(ours, theirs, processor)),
		}, nil
	}}
}
