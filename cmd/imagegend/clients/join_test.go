package clients

import (
	"context"
	"encoding/json"
	"errors"
	"image"
	_ "image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

func TestMain(m *testing.M) { os.Exit(daemontest.Main(m)) }

const (
	slow     = "[fake:delay=4s] a fox"
	patience = 1500 * time.Millisecond
)

// site is a service with an account of 10 credits.
type site struct {
	*testing.T
	is       *is.I
	url, key string
}

// onEachStorage runs a test against the daemon, whose storage is a directory, and against an engine in memory.
func onEachStorage(t *testing.T, test func(s *site)) {
	t.Run("directory", func(t *testing.T) {
		t.Parallel()
		d := daemontest.Start(t, daemontest.Options{})
		_, key := d.NewUser(10)
		test(&site{t, is.New(t), d.URL, key})
	})
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		engine := imagegentest.Start(t)
		server := httptest.NewServer(httpapi.NewHandler(engine.Engine, httpapi.Options{}))
		t.Cleanup(server.Close)
		engine.Grant(t, "carol", 10)
		test(&site{t, is.New(t), server.URL, engine.Key(t, "carol")})
	})
}

// client is a way to ask for an image with little patience, again and again if need be.
type client func(s *site, prompt string) (answer []byte)

var clients = map[string]client{"Go": (*site).askWithGo, "Node": (*site).askWithNode}

// askWithGo repeats the call by itself: the client for Go takes a time limit for the call as a whole.
func (s *site) askWithGo(prompt string) []byte {
	s.Helper()
	c := openai.NewClient(option.WithAPIKey(s.key), option.WithBaseURL(s.url+"/api/v1"), option.WithMaxRetries(0))
	for range 10 {
		ctx, cancel := context.WithTimeout(s.Context(), patience)
		r, err := c.Images.Generate(ctx, openai.ImageGenerateParams{Model: "fake-1", Prompt: prompt, Size: "64x48"})
		cancel()
		if err == nil {
			return []byte(r.RawJSON())
		}
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, syscall.ECONNREFUSED) {
			s.Logf("the call failed: %v", err)
		}
		time.Sleep(200 * time.Millisecond) // as clients do between two calls; the service has yet to be told of the hang-up
	}
	s.Fatal("ten calls brought no image")
	return nil
}

// askWithNode has the client repeat the call of its own accord, as it does when nobody says otherwise.
func (s *site) askWithNode(prompt string) []byte {
	s.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		s.Fatal("NOT RUN: there is no Node; .ci/run clients installs the package")
	}
	out, err := exec.Command(node, "node/generate.mjs", s.url+"/api/v1", s.key, prompt, "1500").Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		s.Fatalf("%s: %v", exit.Stderr, err)
	}
	s.is.NoErr(err)
	return out
}

type answer struct {
	ID     string
	Images []struct {
		URL           string
		Width, Height int
	}
}

// brings checks that an answer names an image that is there.
func (s *site) brings(raw []byte) (a answer) {
	s.Helper()
	s.is.NoErr(json.Unmarshal(raw, &a))
	s.is.Equal(len(a.Images), 1)
	r, err := http.Get(a.Images[0].URL)
	s.is.NoErr(err)
	defer r.Body.Close()
	c, _, err := image.Decode(r.Body)
	s.is.NoErr(err)
	s.is.Equal(c.Bounds().Dx(), 64)
	return a
}

// spent checks what the account has used, and on how many generations.
func (s *site) spent(credits, generations int) {
	s.Helper()
	var balance struct{ Balance struct{ Credits int } }
	s.read("/api/v1/credits", &balance)
	s.is.Equal(10-balance.Balance.Credits, credits)
	var list struct{ Data []any }
	s.read("/api/v1/generations", &list)
	s.is.Equal(len(list.Data), generations)
}

func (s *site) read(path string, v any) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.url+path, nil)
	s.is.NoErr(err)
	r.Header.Set("Authorization", "Bearer "+s.key)
	got, err := http.DefaultClient.Do(r)
	s.is.NoErr(err)
	defer got.Body.Close()
	s.is.NoErr(json.NewDecoder(got.Body).Decode(v))
}

// One call with less patience than its work takes: one generation, one charge, and the image arrives.
func TestImpatientClient(t *testing.T) {
	for name, ask := range clients {
		t.Run(name, func(t *testing.T) {
			onEachStorage(t, func(s *site) {
				s.brings(ask(s, slow))
				s.spent(1, 1)
			})
		})
	}
}

// Two equal calls at once, from callers who both wait, are two generations.
func TestTwoCallersAtOnce(t *testing.T) {
	onEachStorage(t, func(s *site) {
		c := openai.NewClient(option.WithAPIKey(s.key), option.WithBaseURL(s.url+"/api/v1"))
		done := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := c.Images.Generate(s.Context(), openai.ImageGenerateParams{Model: "fake-1", Prompt: "[fake:delay=1s] a fox", Size: "64x48"})
				done <- err
			}()
		}
		s.is.NoErr(<-done)
		s.is.NoErr(<-done)
		s.spent(2, 2)
	})
}

// A restart of the service behind a client that repeats its call.
func TestImpatientClientAndARestart(t *testing.T) {
	for name, ask := range clients {
		for moment, c := range map[string]struct {
			after       time.Duration
			generations int
		}{
			"after the end of the work": {6 * time.Second, 1},
			"during the work":           {2 * time.Second, 2},
		} {
			t.Run(name+" "+moment, func(t *testing.T) {
				t.Parallel()
				o := daemontest.Options{DataDir: t.TempDir(), Args: []string{"--drain-timeout", "0s"}}
				d := daemontest.Start(t, o)
				_, key := d.NewUser(10)
				s := &site{t, is.New(t), d.URL, key}
				s.gives(slow)
				time.Sleep(c.after) // the time of the daemon, which is another process
				d.Terminate(time.Minute)
				s.url = daemontest.Start(t, o).URL
				s.brings(ask(s, slow))
				s.spent(1, c.generations)
			})
		}
	}
}

// gives up a call after a while.
func (s *site) gives(prompt string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	c := openai.NewClient(option.WithAPIKey(s.key), option.WithBaseURL(s.url+"/api/v1"), option.WithMaxRetries(0))
	_, err := c.Images.Generate(ctx, openai.ImageGenerateParams{Model: "fake-1", Prompt: prompt, Size: "64x48"})
	s.is.True(strings.Contains(err.Error(), "deadline"))
}
