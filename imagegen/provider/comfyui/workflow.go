package comfyui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// workflow is a template of what ComfyUI runs. It is never changed.
type workflow struct {
	nodes   map[string]any // by id, with placeholders; numbers are json.Number
	classes []string       // of its nodes, sorted, each once
	takes   takes
	batch   bool // one submission draws as many pictures as are asked for
}

// takes are the files that a workflow takes, neither more nor fewer.
type takes struct {
	references int
	mask       bool
}

func (t takes) String() string {
	if t.mask {
		return fmt.Sprintf("%d reference images and a mask", t.references)
	}
	return fmt.Sprintf("%d reference images", t.references)
}

// The names of placeholders, but for those of references. required are those without which a
// workflow would not do what was asked for.
var (
	required = []string{"prompt", "width", "height", "seed"}
	optional = []string{"n", "steps", maskName}
)

// maskName is the placeholder of the mask.
const maskName = "mask"

// placeholder matches whatever stands between two pairs of braces, so that a misspelt name is found and refused.
var placeholder = regexp.MustCompile(`\{\{\s*([^{}]*?)\s*\}\}`)

// parse reads a workflow in API format, the only one that says what each node's inputs are. Its
// errors tell the operator what to correct.
func parse(text []byte) (workflow, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // a seed has more digits than a float64
	var nodes map[string]any
	if err := d.Decode(&nodes); err != nil {
		return workflow{}, fmt.Errorf("it is not a JSON object: %w", err)
	}
	if d.More() {
		return workflow{}, errors.New("something follows the JSON object")
	}
	w := workflow{nodes: nodes}
	var err error
	if w.classes, err = classesOf(nodes); err != nil {
		return workflow{}, err
	}
	names := map[string]bool{}
	mapTexts(nodes, func(text string) any {
		for _, match := range placeholder.FindAllStringSubmatch(text, -1) {
			names[match[1]] = true
		}
		return text
	})
	if w.takes.references, err = checkNames(names); err != nil {
		return workflow{}, err
	}
	w.takes.mask = names[maskName]
	if w.takes == (takes{mask: true}) {
		return workflow{}, errors.New("it has {{mask}} but no {{ref1}}; a mask belongs to a reference image")
	}
	w.batch = names["n"]
	return w, nil
}

// classesOf returns the kinds of nodes. It recognises the editor's own format, which is easily
// mistaken for the API's.
func classesOf(nodes map[string]any) ([]string, error) {
	if _, edited := nodes["nodes"].([]any); edited {
		return nil, errors.New(`it is as the editor saves it; export it with "Export (API)"`)
	}
	if len(nodes) == 0 {
		return nil, errors.New("it has no nodes")
	}
	classes := map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(nodes)) {
		node, _ := nodes[id].(map[string]any)
		class, _ := node["class_type"].(string)
		if class == "" {
			return nil, fmt.Errorf("node %q has no class_type; is it in API format?", id)
		}
		classes[class] = true
	}
	return slices.Sorted(maps.Keys(classes)), nil
}

// checkNames refuses names that mean nothing, and a set in which a required one is missing or references have a gap.
// It returns the number of references.
func checkNames(names map[string]bool) (references int, err error) {
	for _, name := range required {
		if !names[name] {
			return 0, fmt.Errorf("it has no placeholder {{%s}}", name)
		}
	}
	for references < imagegen.MaxReferences && names[referenceName(references)] {
		references++
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if slices.Contains(required, name) || slices.Contains(optional, name) ||
			slices.Contains(referenceNames(references), name) {
			continue
		}
		if slices.Contains(referenceNames(imagegen.MaxReferences), name) {
			return 0, fmt.Errorf("it has {{%s}} but no {{%s}}; they count from {{ref1}} without a gap", name,
				referenceName(references))
		}
		return 0, fmt.Errorf("the placeholder {{%s}} means nothing; there are {{%s}}, {{%s}} and {{ref1}} to {{ref%d}}",
			name, strings.Join(required, "}}, {{"), strings.Join(optional, "}}, {{"), imagegen.MaxReferences)
	}
	return references, nil
}

// referenceName is the placeholder of the i-th reference, from 0.
func referenceName(i int) string { return fmt.Sprintf("ref%d", i+1) }

func referenceNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = referenceName(i)
	}
	return names
}

// substitute returns a copy of the nodes with values in place of the placeholders. There must be a value for each that
// the workflow has. What a value contains is not looked at: a prompt may contain the name of a placeholder.
func (w workflow) substitute(values map[string]any) any {
	return mapTexts(w.nodes, func(text string) any { return fillText(text, values) })
}

// mapTexts returns a copy of v with what f makes of each text in it.
func mapTexts(v any, f func(text string) any) any {
	switch v := v.(type) {
	case string:
		return f(v)
	case []any:
		mapped := make([]any, len(v))
		for i, e := range v {
			mapped[i] = mapTexts(e, f)
		}
		return mapped
	case map[string]any:
		mapped := make(map[string]any, len(v))
		for name, e := range v {
			mapped[name] = mapTexts(e, f)
		}
		return mapped
	}
	return v
}

// fillText returns the value itself if the text is a placeholder and nothing else but white space.
func fillText(text string, values map[string]any) any {
	value := func(match string) any { return values[placeholder.FindStringSubmatch(match)[1]] }
	if match := placeholder.FindString(text); match != "" && match == strings.TrimSpace(text) {
		return value(match)
	}
	return placeholder.ReplaceAllStringFunc(text, func(match string) string { return fmt.Sprint(value(match)) })
}
