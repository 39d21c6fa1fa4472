package comfyui_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/comfyui"
)

func TestNew(t *testing.T) {
	const all = `"{{prompt}} {{width}} {{height}} {{seed}}"`
	node := func(inputs string) []byte { return []byte(`{"1":{"class_type":"X","inputs":{"a":` + inputs + `}}}`) }
	for says, c := range map[string]comfyui.Config{
		"a workflow is required":                  {},
		"base URL":                                {Workflows: [][]byte{node(all)}, BaseURL: "10.0.0.7:8188"},
		"BestEdge":                                {Workflows: [][]byte{node(all)}, BestEdge: 100_000},
		"Steps":                                   {Workflows: [][]byte{node(all)}, Steps: provider.Steps{High: -1}},
		"workflow 1: it is not a JSON object":     {Workflows: [][]byte{[]byte(`[]`)}},
		"something follows":                       {Workflows: [][]byte{append(node(all), '{')}},
		"it has no nodes":                         {Workflows: [][]byte{[]byte(`{}`)}},
		`export it with "Export (API)"`:           {Workflows: [][]byte{[]byte(`{"nodes":[{"id":1}],"links":[]}`)}},
		`node "1" has no class_type`:              {Workflows: [][]byte{[]byte(`{"1":{"inputs":{}}}`)}},
		"no placeholder {{prompt}}":               {Workflows: [][]byte{node(`"{{width}} {{height}} {{seed}}"`)}},
		"no placeholder {{height}}":               {Workflows: [][]byte{node(`"{{prompt}} {{width}} {{seed}}"`)}},
		"no placeholder {{seed}}":                 {Workflows: [][]byte{node(`"{{prompt}} {{width}} {{height}}"`)}},
		"{{negative}} means nothing":              {Workflows: [][]byte{node(`[` + all + `,"{{negative}}"]`)}},
		"{{ref2}} but no {{ref1}}":                {Workflows: [][]byte{node(`[` + all + `,"{{ref2}}"]`)}},
		"{{ref17}} means nothing":                 {Workflows: [][]byte{node(`[` + all + `,"{{ref17}}"]`)}},
		"{{}} means nothing":                      {Workflows: [][]byte{node(`[` + all + `,"{{}}"]`)}},
		"workflow 2: another one takes 0":         {Workflows: [][]byte{node(all), node(all)}},
		"there are 34 workflows; there can be 33": {Workflows: make([][]byte, 34)},
		"{{mask}} but no {{ref1}}":                {Workflows: [][]byte{node(`[` + all + `,"{{mask}}"]`)}},
		"takes 1 reference images and a mask; give one that takes as many without": {Workflows: [][]byte{node(all),
			node(`[` + all + `,"{{ref1}}","{{mask}}"]`)}},
		"workflow 3: another one takes 1 reference images and a mask": {Workflows: [][]byte{node(`[` + all +
			`,"{{ref1}}"]`),
			node(`[` + all + `,"{{ref1}}","{{mask}}"]`), node(`[` + all + `,"{{mask}}","{{ref1}}"]`)}},
	} {
		t.Run(says, func(t *testing.T) {
			is := is.New(t)
			_, err := comfyui.New(c)
			is.True(err != nil)
			is.True(strings.HasPrefix(err.Error(), "comfyui: "))
			is.True(strings.Contains(err.Error(), says))
		})
	}
}

func TestReferencesAreCounted(t *testing.T) {
	is := is.New(t)
	p, err := comfyui.New(comfyui.Config{Workflows: [][]byte{
		[]byte(`{"1":{"class_type":"X","inputs":{"a":["{{prompt}}","{{width}}","{{height}}","{{seed}}",{"b":"{{ref3}} {{ref1}}"},"{{ref2}}"]}}}`)}})
	is.NoErr(err)
	is.Equal(p.Capabilities().MaxReferences, 3)
}
