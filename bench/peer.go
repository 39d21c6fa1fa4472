package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// besideDirect is a row in the shape in which gateways are compared: the upstream has its answer ready, and between it
// and its callers is the service alone. It tells how many connections the service has opened to the upstream meanwhile,
// and how often the disk was flushed for each image.
func besideDirect(name string, t target, ours, direct starter) row {
	return row{name, func(ctx context.Context, b *bench) ([]string, error) {
		turns, err := b.hold(ctx, ours, direct)
		if err != nil {
			return nil, err
		}
		images := 0.0
		for _, one := range turns[0] {
			images += one.rate * b.turn.Seconds()
		}
		return []string{
			fmt.Sprintf("%.0f", median(each(turns[0], rate))),
			t.cell(ratios(turns[0], turns[1], rate)),
			fmt.Sprintf("%.2f ms", 1e3*median(each(turns[0], processor))),
			fmt.Sprintf("%d for %.0f images", turns[0][len(turns[0])-1].opened, images),
			fmt.Sprintf("%.1f", median(each(turns[0], flushed))),
		}, nil
	}}
}

func (g generation) besideDirect(t target) row { return besideDirect(g.String(), t, g.ours, g.direct) }

func (s shaped) besideDirect(t target) row {
	return besideDirect(s.String(), t, s.ours, generation(s).direct)
}

// connections is how many the upstream of a server has seen; 0 if it has none.
func (p *process) connections() (int, error) {
	if p.upstream == nil {
		return 0, nil
	}
	answer, err := http.Get("http://" + p.upstream.address + "/connections")
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(string(text))
	return n - 1, err // but for the one that asks
}
