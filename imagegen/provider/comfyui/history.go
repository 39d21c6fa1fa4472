package comfyui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// record is what the history has of a prompt that has ended.
type record struct {
	Outputs map[string]struct{ Images []picture } // by node
	Status  struct {
		Outcome  string               `json:"status_str"` // success or error
		Messages [][2]json.RawMessage // a name and its details
	}
}

// picture names a file in one of ComfyUI's directories: Type is output, input or temp.
type picture struct{ Filename, Subfolder, Type string }

// ending is how a prompt ended: with pictures, an error, or both.
type ending struct {
	pictures []picture
	ran      time.Duration
	err      error
}

// ran is the time from the first message of a prompt, that it has started, to the last, by ComfyUI's own clock
// (Comfy-Org/ComfyUI, execution.py, add_message). Old versions do not say it: 0.
func (r record) ran() time.Duration {
	var times []int64
	for _, m := range r.Status.Messages {
		var said struct{ Timestamp int64 } // in milliseconds
		if json.Unmarshal(m[1], &said) == nil && said.Timestamp > 0 {
			times = append(times, said.Timestamp)
		}
	}
	if len(times) == 0 {
		return 0
	}
	return max(0, time.UnixMilli(times[len(times)-1]).Sub(time.UnixMilli(times[0])))
}

// ending takes the pictures in the order of their nodes' ids. A prompt that failed may have saved some before.
func (r record) ending() ending {
	end := ending{ran: r.ran()}
	for _, node := range slices.Sorted(maps.Keys(r.Outputs)) {
		for _, f := range r.Outputs[node].Images {
			if f.Type == "output" { // the others are previews, and inputs shown again
				end.pictures = append(end.pictures, f)
			}
		}
	}
	switch {
	case r.Status.Outcome == "error":
		end.err = r.failure()
	case len(end.pictures) == 0:
		end.err = &imagegen.ProviderError{Class: imagegen.ClassUnknown,
			Message: "the workflow saved no picture; it needs a SaveImage node"}
	}
	return end
}

// failure is why a prompt failed, as its messages tell. One that was interrupted, by somebody
// in ComfyUI, can be made again.
func (r record) failure() error {
	for _, m := range r.Status.Messages {
		var name string
		json.Unmarshal(m[0], &name) // another shape says nothing
		switch name {
		case "execution_interrupted":
			return &imagegen.ProviderError{Class: imagegen.ClassUnavailable,
				Message: "the workflow was interrupted in ComfyUI"}
		case "execution_error":
			return nodeFailure(m[1])
		}
	}
	return &imagegen.ProviderError{Class: imagegen.ClassUnknown,
		Message: "the workflow failed; ComfyUI does not say why"}
}

// nodeFailure is the error of a workflow in which a node failed. It is of ClassUnknown, but for
// a lack of memory, which may pass by itself.
func nodeFailure(details json.RawMessage) error {
	var said struct {
		Node    string `json:"node_type"`
		Type    string `json:"exception_type"`
		Message string `json:"exception_message"`
	}
	json.Unmarshal(details, &said)
	e := &imagegen.ProviderError{Class: imagegen.ClassUnknown, Message: fmt.Sprintf("node %q of the workflow failed",
		said.Node),
		Err: errors.New(upstream.Excerpt([]byte(said.Type + ": " + said.Message)))}
	if strings.Contains(said.Type, "OutOfMemory") {
		e.Class = imagegen.ClassUnavailable
	}
	return e
}

// openPicture fetches a picture. The caller closes it.
func (p *Provider) openPicture(ctx context.Context, f picture) (io.ReadCloser, error) {
	query := url.Values{"filename": {f.Filename}, "subfolder": {f.Subfolder}, "type": {f.Type}}
	response, err := p.client.Do(ctx, http.MethodGet, "/view?"+query.Encode(), nil)
	if err != nil {
		return nil, upstream.Unsettled(err)
	}
	return response.Body, nil
}
