package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// offered is a model whose images cost this much.
func offered(id string, p imagegen.Provider, price imagegen.Credits, upstreams ...string) engine.Model {
	return engine.Model{ID: id, Provider: p, Credits: map[imagegen.Tier]imagegen.Credits{"1K": price},
		Upstreams: upstreams}
}

func retired(m engine.Model) engine.Model {
	m.Retired = true
	return m
}

// gated makes one image once the gate is closed.
func gated(gate <-chan struct{}) *scripted {
	return &scripted{caps: anything,
		do: func(ctx context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			select {
			case <-gate:
				yield(picture(1024, 1024), nil)
			case <-ctx.Done():
				yield(imagegen.ProviderImage{}, ctx.Err())
			}
		}}
}

func (h *harness) setModels(models ...engine.Model) error {
	return h.engine.SetModels(h.Context(), models)
}

func (h *harness) listed() (ids []string) {
	infos, err := h.engine.Models(h.Context())
	h.is.NoErr(err)
	for _, i := range infos {
		ids = append(ids, i.ID)
	}
	return ids
}

func TestSetModels(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	before, err := h.engine.As(alice).PriceList(t.Context())
	h.is.NoErr(err)
	h.is.NoErr(h.setModels(offered("n", yieldImages(1, nil), 7), retired(offered("m", yieldImages(1, nil), 1))))
	h.is.Equal(h.listed(), []string{"n"})
	after, err := h.engine.As(alice).PriceList(t.Context())
	h.is.NoErr(err)
	h.is.Equal(after.Revision, before.Revision+1)
	infos, err := before.Models(t.Context())
	h.is.NoErr(err)
	h.is.Equal(infos[0].ID, "m")          // as it was
	h.is.Equal(len(h.engine.Health()), 2) // an operator sees both

	_, err = h.generate(imagegen.GenerateRequest{Model: "n"})
	h.is.NoErr(err)
	h.is.Equal(h.balance(), imagegen.Credits(93))
	_, hidden := h.generate(imagegen.GenerateRequest{Model: "m"})
	_, unknown := h.generate(imagegen.GenerateRequest{Model: "x"})
	h.is.True(isCode(hidden, imagegen.ErrInvalidRequest))
	h.is.Equal(hidden.Error(), strings.Replace(unknown.Error(), `"x"`, `"m"`, 1))
	_, err = h.engine.As(alice).Quote(t.Context(), fox(imagegen.GenerateRequest{Model: "m"}))
	h.is.True(isCode(err, imagegen.ErrInvalidRequest))

	err = h.setModels(engine.Model{ID: "n"}, offered("n", yieldImages(1, nil), 1), offered("o", yieldImages(1, nil),
		-1),
		engine.Model{ID: "p", Provider: yieldImages(1, nil), Credits: map[imagegen.Tier]imagegen.Credits{"1k": 1}})
	for _, want := range []string{`model "n" has no Provider`,
		`model "p": Credits: there is no tier "1k"; the tiers are [1K 2K 4K]`, `must be present and differ; got "n"`,
		`model "o"`} {
		h.is.True(strings.Contains(err.Error(), want))
	}
	h.is.Equal(h.listed(), []string{"n"}) // as it was
	last, err := h.engine.As(alice).PriceList(t.Context())
	h.is.NoErr(err)
	h.is.Equal(last.Revision, after.Revision)
}

// Asynchronous work keeps what it needs: its model, and the upstream that makes it.
func TestModelsThatWorkNeeds(t *testing.T) {
	eachLedger(t, func(t *testing.T, option func(*engine.Config)) {
		synctest.Test(t, func(t *testing.T) {
			gate := make(chan struct{})
			h := start(t, gated(gate), option, func(c *engine.Config) {
				c.Limits.Concurrency = 1
				c.Models = []engine.Model{offered("m", gated(gate), 1, "a"), offered("idle", gated(gate), 1)}
			})
			ids := []imagegen.GenerationID{h.queued(imagegen.GenerateRequest{}).ID,
				h.queued(imagegen.GenerateRequest{}).ID}
			synctest.Wait() // one runs, one waits
			refused := func(want *engine.ModelInUseError, models ...engine.Model) {
				t.Helper()
				got, ok := errors.AsType[*engine.ModelInUseError](h.setModels(models...))
				h.is.True(ok)
				h.is.Equal(cmp.Diff(want, got), "")
				h.is.Equal(h.listed(), []string{"m", "idle"})
			}
			refused(&engine.ModelInUseError{Model: "m", Dropped: true, Count: 2})
			refused(&engine.ModelInUseError{Model: "m", Count: 2}, offered("m", gated(gate), 1, "b"))
			refused(&engine.ModelInUseError{Model: "m", Count: 2}, retired(offered("m", gated(gate), 1)))

			h.is.NoErr(h.setModels(offered("m", gated(gate), 3, "b", "a"))) // a router in front of the same upstream
			h.is.NoErr(h.setModels(retired(offered("m", gated(gate), 3, "a", "b"))))
			close(gate)
			for _, id := range ids {
				h.is.Equal(h.ended(id).Status, imagegen.StatusSucceeded)
			}
			h.is.Equal(h.balance(), imagegen.Credits(98)) // at the price of its acceptance
			h.is.NoErr(h.setModels())
			h.audit()
		})
	})
}

// Work that is about to be accepted counts as accepted.
func TestModelsThatACallNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		admitted := make(chan struct{})
		h := start(t, yieldImages(1, nil), func(c *engine.Config) {
			c.Admit = func(context.Context, engine.Admission) error { <-admitted; return nil }
		})
		var calls sync.WaitGroup
		var id imagegen.GenerationID
		calls.Go(func() {
			got, err := h.generate(imagegen.GenerateRequest{Async: true})
			if id = got.ID; err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		got, ok := errors.AsType[*engine.ModelInUseError](h.setModels())
		h.is.True(ok)
		h.is.Equal(cmp.Diff(&engine.ModelInUseError{Model: "m", Dropped: true, Count: 1}, got), "")
		close(admitted)
		calls.Wait()
		h.is.Equal(h.ended(id).Status, imagegen.StatusSucceeded)
		h.is.NoErr(h.setModels())
	})
}

// Work that waits or runs is made by the provider that it was accepted for, whatever is set
// meanwhile, and no synchronous work holds a model up.
func TestAttemptsKeepTheirProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var events []imagegen.Event
		h := start(t, gated(gate), func(c *engine.Config) {
			c.Limits.Concurrency = 1
			c.Observer = imagegen.ObserverFunc(func(_ context.Context, e imagegen.Event) { events = append(events, e) })
		})
		var calls sync.WaitGroup
		for range 2 {
			calls.Go(func() {
				if _, err := h.generate(imagegen.GenerateRequest{}); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		other := yieldImages(0, errors.New("it was asked for another's work"))
		h.is.NoErr(h.setModels(offered("m", other, 50, "elsewhere")))
		h.is.NoErr(h.setModels())
		close(gate)
		calls.Wait()
		h.is.Equal(h.balance(), imagegen.Credits(98))
		h.is.Equal(len(events), 4)
		for _, e := range events {
			h.is.Equal(e.Provider, "scripted") // also of a model that was removed
		}
	})
}

// The upstream that has a job goes on with it, also as one of several.
func TestJobOfTheSameUpstream(t *testing.T) {
	for name, now := range map[string][]string{"the same": {"a"}, "one of several": {"b", "a"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				p := &scripted{caps: anything,
					do: func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
						error) bool) {
						if asked++; r.Job == nil && r.SaveJob(ctx, []byte("job 7")) == nil {
							<-ctx.Done()
							return
						}
						yield(picture(1024, 1024), nil)
					}}
				h := start(t, p, func(c *engine.Config) { c.Models = []engine.Model{offered("m", p, 1, "a")} })
				id := h.queued(imagegen.GenerateRequest{}).ID
				synctest.Wait()
				h.stopNow(h.engine)
				h.cfg.Models = []engine.Model{offered("m", p, 1, now...)}
				h.restart()
				h.is.Equal(h.ended(id).Status, imagegen.StatusSucceeded)
				h.is.Equal(asked, 2)
				h.is.Equal(h.balance(), imagegen.Credits(99))
				h.audit()
			})
		})
	}
}

// Unservable counts what an engine cannot make, since it was started with other models.
func TestStranded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &scripted{caps: anything,
			do: func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				if r.Prompt != "hold" || r.SaveJob(ctx, []byte("job 7")) == nil {
					<-ctx.Done()
				}
			}}
		h := start(t, p, func(c *engine.Config) {
			c.Models = []engine.Model{offered("m", p, 1, "a"), offered("gone", p, 1)}
		})
		stranded := func() map[string]int {
			t.Helper()
			got, err := h.engine.Unservable(t.Context())
			h.is.NoErr(err)
			return got
		}
		h.queued(imagegen.GenerateRequest{Model: "gone"})
		h.queued(imagegen.GenerateRequest{Model: "m", Prompt: "hold"})
		synctest.Wait()
		h.is.Equal(stranded(), map[string]int{})
		h.stopNow(h.engine)
		h.cfg.Models = []engine.Model{offered("m", p, 1, "b")}
		h.restart()
		h.is.Equal(stranded(), map[string]int{"gone": 1, "m": 1})
	})
}

// Accepted work is made while models come and go.
func TestModelsComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil))
		ended := make(chan struct{})
		var calls, changes sync.WaitGroup
		changes.Go(func() {
			with := []engine.Model{offered("m", yieldImages(1, nil), 1)}
			for n := 0; ; n++ {
				select {
				case <-ended:
					return
				default:
				}
				if err := h.engine.SetModels(context.Background(), with[:n%2]); err != nil && !isInUse(err) {
					t.Error(err)
				}
				time.Sleep(time.Microsecond)
			}
		})
		accepted := make(chan imagegen.GenerationID, 100)
		for range 4 {
			calls.Go(func() {
				for range 20 {
					got, err := h.engine.As(alice).Generate(context.Background(),
						fox(imagegen.GenerateRequest{Async: true}))
					if err == nil {
						accepted <- got.ID
					} else if !isCode(err, imagegen.ErrInvalidRequest) {
						t.Error(err)
					}
					time.Sleep(time.Microsecond)
				}
			})
		}
		calls.Wait()
		close(ended)
		changes.Wait()
		close(accepted)
		h.is.True(len(accepted) > 0)
		h.is.NoErr(h.setModels(offered("m", yieldImages(1, nil), 1)))
		for id := range accepted {
			h.is.Equal(h.ended(id).Status, imagegen.StatusSucceeded)
		}
	})
}

func isInUse(err error) bool {
	_, ok := errors.AsType[*engine.ModelInUseError](err)
	return ok
}

func TestModelsOfAPlainStore(t *testing.T) {
	h := start(t, yieldImages(1, nil), func(c *engine.Config) {
		c.Images, c.Spool, c.Store = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool), plainStore{c.Store}
	})
	h.is.True(errors.Is(h.setModels(), errors.ErrUnsupported)) // nobody can tell what waits
	h.is.Equal(h.listed(), []string{"m"})
	h.is.NoErr(h.setModels(retired(offered("m", yieldImages(1, nil), 1))))
	h.is.Equal(h.listed(), nil)
}

// A model that no request could ever use is not accepted, and the error names the model and what is wrong.
func TestAModelOfNoUse(t *testing.T) {
	for name, test := range map[string]struct {
		caps imagegen.Capabilities
		most *int
		want string
	}{
		"capabilities that contradict each other": {caps: imagegen.Capabilities{MinReferences: 1},
			want: "MinReferences is 1"},
		"a negative limit": {caps: imagegen.Capabilities{MaxReferences: -1},
			want: "MaxReferences is -1"},
		"fewer references than the provider needs": {caps: imagegen.Capabilities{MinReferences: 1, MaxReferences: 4},
			most: new(0), want: "MaxReferences is 0; its provider needs at least 1"},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, yieldImages(1, nil))
			p := yieldImages(1, nil)
			p.caps = test.caps
			m := offered("useless", p, 1)
			m.MaxReferences = test.most
			err := h.engine.SetModels(t.Context(), []engine.Model{m})
			h.is.True(err != nil && strings.Contains(err.Error(), `"useless"`) &&
				strings.Contains(err.Error(), test.want))
		})
	}
}
