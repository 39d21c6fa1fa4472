package main

import (
	"context"
	"flag"
	"iter"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/cassette"
)

var record = flag.Bool("record", false, "make the calls, and record them")

// open returns a cassette that fails the test if the calls are not those that were recorded.
func open(t *testing.T, dir string) imagegen.Provider {
	t.Helper()
	begin, other := cassette.Replay, imagegen.Provider(offline{&provider.Fake{}})
	if *record {
		begin, other = cassette.Record, upstream()
	}
	c, err := begin(dir, other)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Done(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// offline stands for the upstream where it must not be asked. A program of yours can do without: a replay never asks.
type offline struct{ *provider.Fake }

func (offline) Generate(context.Context, imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	panic("the upstream was asked")
}

func TestMenu(t *testing.T) {
	is := is.New(t)
	var out strings.Builder
	is.NoErr(illustrate(t.Context(), open(t, "testdata/menu"), &out, "soup", "salad"))
	is.Equal(out.String(), "soup: 96×64, 9 credits left\nsalad: 96×64, 8 credits left\n")
}

// A program that asks for something else fails, and learns what differs.
func TestMenuChanged(t *testing.T) {
	is := is.New(t)
	if *record {
		return
	}
	c, err := cassette.Replay("testdata/menu", offline{&provider.Fake{}})
	is.NoErr(err)
	var out strings.Builder
	err = illustrate(t.Context(), c, &out, "soup", "pasta")
	is.True(strings.HasPrefix(err.Error(), "pasta: generationFailed"))
	is.True(strings.Contains(c.Done().Error(),
		`["prompt: a bowl of pasta"] is asked for; the nearest call that is left has ["prompt: a bowl of salad"] there`))
}
