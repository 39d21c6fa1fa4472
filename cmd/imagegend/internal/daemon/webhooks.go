package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/private"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/webhook"
)

// hooks are the webhooks of a service. Without any, its methods do nothing.
type hooks struct {
	*webhook.Deliverer
	cancel  context.CancelFunc
	running sync.WaitGroup // the goroutine of start
}

// readHooks reads the file of webhooks, which nobody else may read, since it has their secrets.
func readHooks(s config.Settings) (all []webhook.Endpoint, err error) {
	if s.Webhooks == "" {
		return nil, nil
	}
	text, err := private.ReadFile(s.Webhooks)
	if err != nil {
		return nil, fmt.Errorf("--webhooks: %w", err)
	}
	in := yaml.NewDecoder(strings.NewReader(text))
	in.KnownFields(true)
	if err := in.Decode(&all); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", s.Webhooks, err)
	}
	return all, nil
}

// prepare makes a deliverer of the file of webhooks.
func (h *hooks) prepare(s config.Settings, feed imagegen.FeedKeeper, log *slog.Logger) error {
	endpoints, err := readHooks(s)
	if err != nil || len(endpoints) == 0 {
		return err
	}
	h.Deliverer, err = webhook.New(webhook.Config{Feed: feed, Endpoints: endpoints, Log: log})
	return err
}

// start begins to deliver, until stop.
func (h *hooks) start() {
	if h.Deliverer == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.cancel = cancel
	h.running.Go(func() { h.Run(ctx) })
}

// stop breaks off what is being sent, which is sent again after the next start, and waits for it.
func (h *hooks) stop() {
	if h.cancel != nil {
		h.cancel()
	}
	h.running.Wait()
}

// warnings are those of endpoints that accept nothing.
func (h *hooks) warnings() []imagegen.Notice {
	if h.Deliverer == nil {
		return nil
	}
	return h.Warnings()
}
