package daemon

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// Sandbox is the service in process, for one command with --dev: one account with credits, over data that Close
// removes. It listens nowhere. It is safe for concurrent use, except for Close.
type Sandbox struct {
	imagegen.Service
	node *node
	dir  string
}

// OpenSandbox opens a sandbox with the given models and starts its engine. The caller closes it.
func OpenSandbox(ctx context.Context, models []engine.Model) (*Sandbox, error) {
	dir, err := os.MkdirTemp("", "imagegend-dev-")
	if err != nil {
		return nil, err
	}
	// Zero settings are the engine's defaults, except that no call joins another, refusals have no bound, and the
	// prompts of failed generations stay.
	n, err := openNode(ctx, config.Settings{Data: config.Data{DataDir: dir}}, models, nil, nil, nil)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s := &Sandbox{node: n, dir: dir}
	u, err := n.openAccount(ctx)
	if err == nil {
		err = n.engine.Start()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.Service = n.engine.As(u.ID)
	return s, nil
}

// Close breaks off what is under way and removes the data.
func (s *Sandbox) Close() error {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	return errors.Join(s.node.engine.Stop(now), s.node.db.Close(), os.RemoveAll(s.dir))
}

// Wait returns a generation once it has ended. With an error of ctx it returns the generation as it was last seen.
func (s *Sandbox) Wait(ctx context.Context, id imagegen.GenerationID) (imagegen.Generation, error) {
	const pause = 50 * time.Millisecond
	for {
		g, err := s.Generation(ctx, id)
		if err != nil || g.Status.Terminal() {
			return g, err
		}
		select {
		case <-ctx.Done():
			return g, ctx.Err()
		case <-time.After(pause):
		}
	}
}
