// Package imagegentest has a test suite for every [imagegen.Service], in process or
// behind HTTP, and an engine to run it against. Only tests can import it.
package imagegentest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// Fixture is a service of its own, as two of its users see it. It offers Model, made by
// provider.Fake, at 1, 2 and 4 credits for an image of tier 1K, 2K and 4K. Its ledger is an
// imagegen.CreditAdmin: the suite reads usage.
type Fixture struct {
	Alice imagegen.Service // has 100 credits that never expire
	Bob   imagegen.Service // has 3
}

// Model is the model of a Fixture.
const Model = "fake-1"

// Service checks the contract of [imagegen.Service]. Each test calls start once; start
// registers with t.Cleanup what must be ended.
func Service(t *testing.T, start func(t *testing.T) Fixture) {
	for name, test := range map[string]func(*suite){
		"models":                    (*suite).models,
		"balance":                   (*suite).balance,
		"synchronous success":       (*suite).success,
		"fewer images":              (*suite).partial,
		"failures":                  (*suite).failures,
		"prices":                    (*suite).prices,
		"exact sizes":               (*suite).exactSizes,
		"too few credits":           (*suite).insufficient,
		"invalid requests":          (*suite).invalid,
		"asynchronous success":      (*suite).asynchronous,
		"asynchronous failure":      (*suite).asynchronousFailure,
		"images before the end":     (*suite).beforeTheEnd,
		"cancelling":                (*suite).cancel,
		"hanging up":                (*suite).hangUp,
		"cancelled before":          (*suite).cancelledBefore,
		"ownership":                 (*suite).ownership,
		"listing":                   (*suite).listing,
		"invalid queries":           (*suite).invalidQueries,
		"replay":                    (*suite).replay,
		"replay of a failure":       (*suite).replayFailure,
		"replay of queued work":     (*suite).replayQueued,
		"key used otherwise":        (*suite).keyReused,
		"key in use":                (*suite).keyInUse,
		"key in use by many":        (*suite).keyInUseByMany,
		"32 callers with one key":   (*suite).concurrentCallers,
		"images":                    (*suite).images,
		"unknown images":            (*suite).unknownImages,
		"references":                (*suite).references,
		"references that are unfit": (*suite).unfitReferences,
		"formats":                   (*suite).formats,
		"backgrounds":               (*suite).backgrounds,
		"seeds":                     (*suite).seeds,
		"masks":                     (*suite).masks,
		"references on their side":  (*suite).turned,
		"masks that are unfit":      (*suite).unfitMasks,
		"options that are invalid":  (*suite).invalidOptions,
		"options are compared":      (*suite).optionsCompared,
		"sum of credits":            (*suite).sum,
		"quotes":                    (*suite).quotes,
		"waiting":                   (*suite).waiting,
		"waiting in vain":           (*suite).waitingInVain,
		"usage":                     (*suite).usage,
		"days of usage":             (*suite).usageDays,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			promises.Expect(t, "Service/"+name)
			test(&suite{T: t, is: is.New(t), Fixture: start(t)})
		})
	}
}

// suite is one test of the suite.
type suite struct {
	*testing.T
	is *is.I
	Fixture
}

// small keeps drawing cheap where a test does not care what is drawn.
var small = imagegen.Size{Width: 64, Height: 48}

// fox fills in what a test does not care about.
func fox(q imagegen.GenerateRequest) imagegen.GenerateRequest {
	q.Model = Model
	if q.Prompt == "" {
		q.Prompt = "a fox"
	}
	if q.Size.Auto() {
		q.Size = small
	}
	return q
}

func (s *suite) generate(q imagegen.GenerateRequest) (imagegen.Result, error) {
	s.Helper()
	return s.Alice.Generate(s.Context(), fox(q))
}

func (s *suite) generated(q imagegen.GenerateRequest) imagegen.Result {
	s.Helper()
	r, err := s.generate(q)
	s.is.NoErr(err)
	return r
}

// hasBalance checks what a user can spend.
func (s *suite) hasBalance(of imagegen.Service, want imagegen.Credits) {
	s.Helper()
	b, err := of.Balance(s.Context())
	s.is.NoErr(err)
	if b.Credits != want {
		s.Fatalf("the user has %d credits, and should have %d", b.Credits, want)
	}
}

// recorded returns all of a user's generations, newest first.
func (s *suite) recorded(of imagegen.Service) []imagegen.Generation {
	s.Helper()
	p, err := of.Generations(s.Context(), imagegen.Query{Limit: imagegen.MaxPageSize})
	s.is.NoErr(err)
	return p.Generations
}

// fails checks the code of an error, and that it says something.
func (s *suite) fails(err error, want *imagegen.Error) *imagegen.Error {
	s.Helper()
	e, ok := errors.AsType[*imagegen.Error](err)
	s.is.True(ok) // every error is an *Error
	if e.Code != want.Code {
		s.Fatalf("the error has code %s (%s), and should have %s", e.Code, e.Message, want.Code)
	}
	s.is.True(errors.Is(err, want)) // errors.Is finds the error by its code
	s.is.True(e.Message != "")      // every error says something
	return e
}

func (s *suite) eventually(ok func() bool) {
	s.Helper()
	eventually(s, "what it waits for", ok)
}

// eventually asks again until ok, which must come within a minute.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s did not come to pass within a minute", what)
		}
	}
}

// ended waits for the end of one of Alice's generations.
func (s *suite) ended(id imagegen.GenerationID) (g imagegen.Generation) {
	s.Helper()
	s.eventually(func() bool {
		var err error
		g, err = s.Alice.Generation(s.Context(), id)
		s.is.NoErr(err)
		return g.Status.Terminal()
	})
	return g
}
