package comfyuitest

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"slices"
	"strings"
)

// classes are the kinds of nodes that are installed. TextEncodeEdit is made up: a node with a text and references.
var classes = []string{"CLIPTextEncode", "CheckpointLoaderSimple", "EmptyLatentImage", "KSampler", "LoadImage",
	"LoadImageMask", "SaveImage", "SetLatentNoiseMask", "TextEncodeEdit", "VAEDecode"}

// Workflow is what was submitted, by node.
type Workflow map[string]struct {
	Class  string         `json:"class_type"`
	Inputs map[string]any `json:"inputs"`
	Meta   map[string]any `json:"_meta"` // what the editor writes down, such as titles
}

// check returns which node ComfyUI would refuse, and why; "" and nil if none.
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
		if err := checkLoader(n.Class, n.Inputs, files); err != nil {
			return id, err
		}
	}
	return "", nil
}

// checkLoader refuses what the nodes that load a file refuse: VALIDATE_INPUTS of LoadImage and LoadImageMask in
// Comfy-Org/ComfyUI, nodes.py. It also refuses a mask that would cover nothing, which ComfyUI takes.
func checkLoader(class string, inputs map[string]any, files map[string][]byte) error {
	if class != "LoadImage" && class != "LoadImageMask" {
		return nil
	}
	file := files[fmt.Sprint(inputs["image"])]
	if file == nil {
		//lint:ignore ST1005 as ComfyUI says it
		return fmt.Errorf("Invalid image file: %v", inputs["image"])
	}
	if class == "LoadImage" {
		return nil
	}
	if channels := []any{"alpha", "red", "green", "blue"}; !slices.Contains(channels, inputs["channel"]) {
		//lint:ignore ST1005 as ComfyUI says it
		return fmt.Errorf("Invalid color channel: %v", inputs["channel"])
	}
	mask, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return err
	}
	if o, ok := mask.(interface{ Opaque() bool }); inputs["channel"] == "alpha" && (!ok || o.Opaque()) {
		return errors.New("the mask is opaque")
	}
	return nil
}

// multiple reports whether v is a number and a multiple of step.
func multiple(v any, step int) bool {
	n, ok := v.(float64)
	return ok && n == float64(int(n)) && int(n)%step == 0
}

// number returns an input of the node of a class; 0 if there is none.
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
		if text, _ := n.Inputs["text"].(string); strings.HasPrefix(text, prompt) {
			return true
		}
	}
	return false
}
