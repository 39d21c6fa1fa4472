package comfyui

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"path"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// values are what the placeholders stand for, but for the seed. It uploads the references.
func (a *attempt) values(ctx context.Context) (map[string]any, error) {
	r := a.request
	size, err := a.canvas.Size(r)
	if err != nil {
		return nil, err
	}
	values := map[string]any{"prompt": r.Prompt, "width": size.Width, "height": size.Height, "n": r.N, "steps": a.config.Steps.of(r.Quality)}
	for i, reference := range r.References {
		if values[referenceName(i)], err = a.upload(ctx, reference); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// upload returns the name that a LoadImage node knows the reference by.
func (a *attempt) upload(ctx context.Context, r imagegen.ProviderReference) (string, error) {
	var f upstream.Form
	f.File("image", r)
	f.Field("type", "input")
	f.Field("subfolder", a.folder())
	response, err := a.client.Do(ctx, http.MethodPost, "/upload/image", f.Body())
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var stored struct{ Name, Subfolder string }
	if err := upstream.Decode(ctx, response.Body, &stored); err != nil {
		return "", err
	}
	if stored.Name == "" {
		return "", &imagegen.ProviderError{Class: imagegen.ClassUnknown, Message: "ComfyUI took a reference image and did not say under which name"}
	}
	return path.Join(stored.Subfolder, stored.Name), nil
}

// folder is the generation's own: in one for all, ComfyUI would compare each upload with those
// before it. Another attempt finds its files there and stores none twice.
func (a *attempt) folder() string {
	key := sha256.Sum256([]byte(a.request.Key))
	return fmt.Sprintf("imagegend/%x", key[:16])
}

// enqueue submits the workflow once, with a seed of its own, and returns the prompt's id.
func (a *attempt) enqueue(ctx context.Context, w workflow, values map[string]any) (string, error) {
	values = maps.Clone(values)
	values["seed"] = rand.Uint32() // what every sampler takes
	var queued struct {
		ID string `json:"prompt_id"`
	}
	if err := a.client.JSON(ctx, http.MethodPost, "/prompt", map[string]any{"prompt": w.fill(values)}, &queued); err != nil {
		return "", err
	}
	if queued.ID == "" {
		return "", &imagegen.ProviderError{Class: imagegen.ClassUnknown, Message: "ComfyUI took the workflow and did not say under which id"}
	}
	return queued.ID, nil
}
