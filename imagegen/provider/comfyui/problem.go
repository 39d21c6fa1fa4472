package comfyui

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// classify adds to the meaning of the status what ComfyUI itself says. A workflow that it refuses is the operator's to
// mend: it lacks a model or a node. Only a number beyond a node's limits can come from the request (Comfy-Org/ComfyUI,
// execution.py, validate_inputs).
func classify(f upstream.Failure) *imagegen.ProviderError {
	e := f.Error()
	var said struct{ Error struct{ Type string } }
	json.Unmarshal(f.Body, &said) // a proxy's page says nothing
	switch {
	case f.Status != http.StatusBadRequest || said.Error.Type == "":
	case bytes.Contains(f.Body, []byte("value_bigger_than_max")) ||
		bytes.Contains(f.Body, []byte("value_smaller_than_min")):
	default:
		e.Class, e.Message = imagegen.ClassBlocked, "ComfyUI refuses the workflow; does it lack a model or a node?"
	}
	return e
}
