package comfyuitest

import (
	"fmt"
	"slices"
)

// classes are the nodes that are installed.
var classes = []string{"CLIPTextEncode", "CheckpointLoaderSimple", "EmptyLatentImage", "KSampler", "LoadImage", "SaveImage", "TextEncodeEdit", "VAEDecode"}

// Workflow is what was submitted, by node.
type Workflow map[string]struct {
	Class  string         `json:"class_type"`
	Inputs map[string]any `json:"inputs"`
	Meta   map[string]any `json:"_meta"` // what the editor writes down, such as titles
}

// check returns which node is at fault.
func (w Workflow) check(files map[string][]byte) (node string, err error) {
	for id, n := range w {
		if !slices.Contains(classes, n.Class) {
			return id, fmt.Errorf("node %s is not installed", n.Class)
		}
		for name, want := range map[string]int{"width": 16, "height": 16, "batch_size": 1, "steps": 1, "seed": 1} {
			if v, given := n.Inputs[name]; given && !multiple(v, want) {
				return id, fmt.Errorf("%s is %v", name, v)
			}
		}
		if text, given := n.Inputs["text"]; given {
			if _, ok := text.(string); !ok {
				return id, fmt.Errorf("text is %v", text)
			}
		}
		if n.Class == "LoadImage" && files[fmt.Sprint(n.Inputs["image"])] == nil {
			return id, fmt.Errorf("image: %q is no file", n.Inputs["image"])
		}
	}
	return "", nil
}

// multiple reports whether v is a number and a multiple of step.
func multiple(v any, step int) bool {
	n, ok := v.(float64)
	return ok && n == float64(int(n)) && int(n)%step == 0
}

// number is an input of the node of a class.
func (w Workflow) number(class, input string) int {
	for _, n := range w {
		if v, ok := n.Inputs[input].(float64); ok && n.Class == class {
			return int(v)
		}
	}
	return 0
}

// says reports whether a text of the workflow begins with the prompt.
func (w Workflow) says(prompt string) bool {
	for _, n := range w {
		if text, _ := n.Inputs["text"].(string); len(text) >= len(prompt) && text[:len(prompt)] == prompt {
			return true
		}
	}
	return false
}
