package sdwebui

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/internal/template"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// Provider makes images with a web UI. It is safe for concurrent use; one call draws at a time, and the others wait.
// It keeps no state but that and idle connections.
type Provider struct {
	config Config
	client *upstream.Client
	extra  *template.Filler // Config.Input
	canvas upstream.Canvas
	can    imagegen.Capabilities
	turn   chan struct{} // has room for one value, which is in it while a call draws
}

var (
	_ imagegen.Provider = (*Provider)(nil)
	_ provider.Prober   = (*Provider)(nil)
)

// Name is the configured name.
func (p *Provider) Name() string { return p.config.Name }

// Capabilities are every ratio and tier, one reference with a mask, and seeds unless Input sets one.
func (p *Provider) Capabilities() imagegen.Capabilities { return p.can }

// Generate asks for all images in one call, which the web UI answers when all are drawn.
func (p *Provider) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return p.client.Redacted(ctx, func(yield upstream.Yield) error {
		response, err := p.draw(ctx, r)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		found := upstream.Found{N: r.N, Yield: yield}
		wanted, err := upstream.Each(ctx, response.Body, upstream.Strings, func(s upstream.String) (bool, error) {
			if s.Path != "images[]" {
				return true, nil
			}
			return found.Take(s)
		})
		if err != nil || !wanted {
			return err
		}
		if found.None() {
			return upstream.Imageless(response.Body, "images holds none")
		}
		return found.Fetch(ctx, p.client)
	})
}

// draw waits for its turn and returns the answer, which comes when everything is drawn. If ctx ends meanwhile, it
// interrupts the web UI before it ends its turn. The web UI does not tell how long it has drawn, so the time of the
// request counts.
func (p *Provider) draw(ctx context.Context, r imagegen.ProviderRequest) (*http.Response, error) {
	taskID := "imagegend-" + rand.Text()
	mask, err := upstream.WhiteMask(ctx, r.Mask)
	if err != nil {
		return nil, err
	}
	path, body, err := p.request(r, mask, taskID)
	if err != nil {
		return nil, err
	}
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	began := time.Now()
	response, err := p.client.Do(ctx, http.MethodPost, path, body)
	if err != nil && ctx.Err() != nil {
		p.interrupt(ctx, taskID)
	}
	if _, answered := errors.AsType[*upstream.StatusError](err); err == nil || answered || ctx.Err() != nil {
		upstream.Report(r, imagegen.UpstreamUsage{Time: time.Since(began)})
	}
	return response, err
}

// interruption is how long a call that was cancelled may take to interrupt the web UI.
const interruption = 2 * time.Second

// interrupt ends the task if it is being drawn, also when ctx has ended. Since the call still has its turn, no other
// call of this provider is interrupted. Nor is another user of the web UI, if the web UI tells which task it draws;
// if it does not, whatever it draws is interrupted.
func (p *Provider) interrupt(ctx context.Context, taskID string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), interruption)
	defer cancel()
	progress := struct{ Active bool }{Active: true}
	question := map[string]any{"id_task": taskID, "live_preview": false}
	err := p.client.JSON(ctx, http.MethodPost, "/internal/progress", question, &progress)
	if err == nil && !progress.Active {
		return
	}
	p.client.JSON(ctx, http.MethodPost, "/sdapi/v1/interrupt", nil, nil) // what fails here is drawn to its end
}

// Probe reports whether the web UI answers, accepts the password and has the checkpoint.
func (p *Provider) Probe(ctx context.Context) error {
	var checkpoints []struct {
		Title string
		Name  string `json:"model_name"`
	}
	if err := p.client.JSON(ctx, http.MethodGet, "/sdapi/v1/sd-models", nil, &checkpoints); err != nil {
		return fmt.Errorf("%s: asking for the checkpoints: %w", p.config.Name, err)
	}
	var titles []string
	for _, c := range checkpoints {
		if p.config.Checkpoint == "" || p.config.Checkpoint == c.Title || p.config.Checkpoint == c.Name {
			return nil
		}
		titles = append(titles, c.Title)
	}
	if len(titles) == 0 {
		return fmt.Errorf("%s: the web UI has no checkpoint", p.config.Name)
	}
	slices.Sort(titles)
	return fmt.Errorf("%s: the web UI has no checkpoint %q; it has %q", p.config.Name, p.config.Checkpoint, titles)
}
