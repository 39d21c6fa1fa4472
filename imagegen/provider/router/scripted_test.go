package router_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/router"
)

// turn is how a scripted provider answers one call: it puts images and returns how the call ends.
type turn func(ctx context.Context, r imagegen.ProviderRequest, put func() bool) error

// scripted is a provider that answers with one turn after the other, and again with the last.
type scripted struct {
	name  string
	can   imagegen.Capabilities
	check func(imagegen.ProviderRequest) error
	probe error

	mu    sync.Mutex
	turns []turn
	asked []imagegen.ProviderRequest
}

func member(name string, turns ...turn) *scripted { return &scripted{name: name, turns: turns} }

func (s *scripted) Name() string                        { return s.name }
func (s *scripted) Capabilities() imagegen.Capabilities { return s.can }
func (s *scripted) Probe(context.Context) error         { return s.probe }

var _ imagegen.Checker = (*scripted)(nil)

func (s *scripted) Check(r imagegen.ProviderRequest) error {
	if s.check == nil {
		return nil
	}
	return s.check(r)
}

// Generate puts images that say who made them.
func (s *scripted) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		err := s.next(r)(ctx, r, func() bool {
			return yield(imagegen.ProviderImage{Body: strings.NewReader(s.name)}, nil)
		})
		if err != nil {
			yield(imagegen.ProviderImage{}, err)
		}
	}
}

func (s *scripted) next(r imagegen.ProviderRequest) turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r)
	t := s.turns[0]
	if len(s.turns) > 1 {
		s.turns = s.turns[1:]
	}
	return t
}

func (s *scripted) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

// makes puts up to n images, then ends with err.
func makes(n int, err error) turn {
	return func(_ context.Context, r imagegen.ProviderRequest, put func() bool) error {
		for range n {
			if !put() {
				return nil
			}
		}
		return err
	}
}

// works makes all that is asked for.
func works(ctx context.Context, r imagegen.ProviderRequest, put func() bool) error {
	return makes(r.N, nil)(ctx, r, put)
}

func fails(c imagegen.Class) turn { return makes(0, failure(c, 0)) }

// lasts works at a turn for a time.
func lasts(d time.Duration, t turn) turn {
	return func(ctx context.Context, r imagegen.ProviderRequest, put func() bool) error {
		select {
		case <-time.After(d):
			return t(ctx, r, put)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// saves saves jobs, nil to forget, before a turn.
func saves(t turn, jobs ...[]byte) turn {
	return func(ctx context.Context, r imagegen.ProviderRequest, put func() bool) error {
		for _, job := range jobs {
			if err := r.SaveJob(ctx, job); err != nil {
				return err
			}
		}
		return t(ctx, r, put)
	}
}

func failure(c imagegen.Class, after time.Duration) error {
	return &imagegen.ProviderError{Class: c, Message: "as scripted", RetryAfter: after}
}

// classOf tells no error, -1, from one of ClassUnknown.
func classOf(err error) int {
	if err == nil {
		return -1
	}
	if p, ok := errors.AsType[*imagegen.ProviderError](err); ok {
		return int(p.Class)
	}
	return int(imagegen.ClassUnknown)
}

func request(n int) imagegen.ProviderRequest {
	return imagegen.ProviderRequest{Key: "gen_1", Prompt: "a fox", N: n, Ratio: "1:1", Tier: imagegen.Tier1K,
		SaveJob: func(context.Context, []byte) error { return nil }}
}

func build(t *testing.T, c router.Config, members ...*scripted) *router.Provider {
	t.Helper()
	for _, m := range members {
		c.Members = append(c.Members, router.Member{Provider: m})
	}
	p, err := router.New(c)
	is.New(t).NoErr(err)
	return p
}

// call returns who made the images, and how the call ended.
func call(ctx context.Context, p imagegen.Provider, r imagegen.ProviderRequest) (made []string, ended error) {
	for i, err := range p.Generate(ctx, r) {
		if ended != nil {
			return made, fmt.Errorf("something was yielded after the error %w", ended)
		}
		if err != nil {
			ended = err
			continue
		}
		who, err := io.ReadAll(i.Body)
		if err != nil {
			return made, err
		}
		made = append(made, string(who))
	}
	return made, ended
}
