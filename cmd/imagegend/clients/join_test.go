package clients

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

func TestMain(m *testing.M) { os.Exit(daemontest.Main(m)) }

const (
	slow     = "[fake:delay=4s] a fox"
	patience = 1500 * time.Millisecond
	enough   = time.Minute
)

// client asks for an image with so much patience for each call, again and again if need be.
type client func(s *site, prompt string, patience time.Duration) (answer []byte, err error)

var clients = map[string]client{"Go": (*site).askWithGo, "Node": (*site).askWithNode}

// eachClient runs a test with each client, on each storage, through each interface.
func eachClient(t *testing.T, test func(s *site, ask client)) {
	for name, ask := range clients {
		for _, path := range []string{"/api/v1", "/v1"} {
			t.Run(name+" "+path, func(t *testing.T) {
				onEachStorage(t, func(s *site) {
					s.path = path
					test(s, ask)
				})
			})
		}
	}
}

// askWithGo repeats the call by itself: the client for Go takes a time limit for the call as a whole.
func (s *site) askWithGo(prompt string, patience time.Duration) ([]byte, error) {
	for range 10 {
		answer, err := s.askOnce(prompt, patience)
		if !errors.Is(err, context.DeadlineExceeded) {
			return answer, err
		}
		time.Sleep(200 * time.Millisecond) // as clients do between two calls; the service has yet to notice the hang-up
	}
	return nil, errors.New("ten calls brought no image")
}

func (s *site) askOnce(prompt string, patience time.Duration) ([]byte, error) {
	c := openai.NewClient(option.WithAPIKey(s.key), option.WithBaseURL(s.url+s.path), option.WithMaxRetries(0))
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	r, err := c.Images.Generate(ctx, openai.ImageGenerateParams{Model: "fake-1", Prompt: prompt, Size: "64x48"})
	if err != nil {
		return nil, err
	}
	return []byte(r.RawJSON()), nil
}

// askWithNode has the client repeat the call of its own accord, as it does when nobody says otherwise.
func (s *site) askWithNode(prompt string, patience time.Duration) ([]byte, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, errors.New("NOT RUN: there is no Node; .ci/run clients installs the package")
	}
	out, err := exec.Command(node, "node/generate.mjs", s.url+s.path, s.key, prompt,
		fmt.Sprint(patience.Milliseconds())).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return out, err
}

// gets asks with little patience, and checks that the image came.
func (s *site) gets(ask client) {
	s.Helper()
	raw, err := ask(s, slow, patience)
	s.is.NoErr(err)
	s.brings(raw)
}

// One call with less patience than its work takes: one generation, one charge, and the image arrives.
func TestImpatientClient(t *testing.T) {
	eachClient(t, func(s *site, ask client) {
		s.gets(ask)
		s.spent(1, "succeeded")
	})
}

// Two equal calls at once, from callers who both wait, are two generations.
func TestTwoCallersAtOnce(t *testing.T) {
	eachClient(t, func(s *site, ask client) {
		done := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := ask(s, "[fake:delay=1s] a fox", enough)
				done <- err
			}()
		}
		s.is.NoErr(<-done)
		s.is.NoErr(<-done)
		s.spent(2, "succeeded", "succeeded")
	})
}

// Images that were made before a restart can be fetched after it.
func TestRestartAfterTheWork(t *testing.T) {
	eachClient(t, func(s *site, ask client) {
		s.gives()
		s.awaits("succeeded")
		s.restart()
		s.gets(ask)
		s.spent(1, "succeeded")
	})
}

// Work that a restart cuts short is refunded; a repeated call makes it anew.
func TestRestartDuringTheWork(t *testing.T) {
	eachClient(t, func(s *site, ask client) {
		s.gives()
		s.restart()
		s.awaits("failed")
		s.spent(0, "failed")
		s.gets(ask)
		s.spent(1, "succeeded", "failed")
	})
}

// gives up a call after a while.
func (s *site) gives() {
	s.Helper()
	_, err := s.askOnce(slow, patience)
	s.is.True(err != nil && strings.Contains(err.Error(), "deadline"))
}
