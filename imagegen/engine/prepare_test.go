package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// hosted is a database in which the host's transactions are committed at once.
type hosted struct{ *memory.DB }

func (h hosted) CreateChargedIn(ctx context.Context, tx imagegen.HostTx, r imagegen.Record, outdated error) (
	imagegen.Record, error) {
	if tx.(hostTx).err != nil {
		return imagegen.Record{}, tx.(hostTx).err
	}
	if outdated != nil {
		stands, err := h.Generation(ctx, r.ID)
		if errors.Is(err, imagegen.ErrNotFound) {
			err = outdated
		}
		return stands, err
	}
	return h.CreateCharged(ctx, r, time.Minute)
}

// hostTx is a transaction in which err comes of everything, unless it is nil.
type hostTx struct{ err error }

func (hostTx) HostTx() {}

func startHosted(t *testing.T, p imagegen.Provider, change ...func(*engine.Config)) *harness {
	t.Helper()
	return start(t, p, append(change, func(c *engine.Config) { c.Store = hosted{c.Store.(*memory.DB)} })...)
}

func (h *harness) prepare(q imagegen.GenerateRequest) *engine.Prepared {
	h.Helper()
	p, err := h.engine.As(alice).Prepare(h.Context(), fox(q))
	h.is.NoErr(err)
	return p
}

// References are kept for an hour. What was not accepted by then is not accepted any more, and leaves nothing behind.
func TestPreparedForAnHour(t *testing.T) {
	for after, accepted := range map[time.Duration]bool{59 * time.Minute: true, 61 * time.Minute: false} {
		t.Run(after.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startHosted(t, yieldImages(1, nil))
				p := h.prepare(imagegen.GenerateRequest{References: []imagegen.Reference{bytesReference(pngOf(8, 8))}})
				plain := h.prepare(imagegen.GenerateRequest{}) // of which nothing is kept that could be gone
				time.Sleep(after)
				_, err := h.engine.As(alice).GenerateTx(t.Context(), hostTx{}, plain)
				h.is.Equal(err == nil, accepted)
				r, err := h.engine.As(alice).GenerateTx(t.Context(), hostTx{}, p)
				if accepted {
					h.is.NoErr(err)
					h.is.Equal(h.ended(r.ID).Status, imagegen.StatusSucceeded)
				} else {
					h.is.True(errors.Is(err, imagegen.ErrInvalidRequest))
					h.is.Equal(err.Error(), "invalid_request: the request was prepared more than an hour ago; prepare it again")
					h.is.Equal(h.balance(), imagegen.Credits(100))
					time.Sleep(time.Minute)
				}
				h.is.Equal(len(h.db.References()), 0)
			})
		})
	}
}

// The references of a transaction that is still open are kept for an hour from then.
func TestPreparedWhileTheHostCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHosted(t, yieldImages(1, nil))
		p := h.prepare(imagegen.GenerateRequest{References: []imagegen.Reference{bytesReference(pngOf(8, 8))}})
		time.Sleep(50 * time.Minute)
		_, err := h.engine.As(alice).GenerateTx(t.Context(), hostTx{errDoubt}, p)
		h.is.Equal(err, errDoubt) // as it is
		time.Sleep(50 * time.Minute)
		h.is.Equal(len(h.db.References()), 1)
		time.Sleep(15 * time.Minute)
		h.is.Equal(len(h.db.References()), 0)
	})
}

// A host that does not know whether its transaction was committed asks once more, and gets the generation that there
// is, also when its references are gone, its model is, or the hour is over.
func TestPreparedIsAskedForOnceMore(t *testing.T) {
	for name, meanwhile := range map[string]func(*harness){
		"it has ended": func(*harness) {},
		"its model is gone": func(h *harness) {
			retired := h.cfg.Models[0]
			retired.Retired = true
			h.is.NoErr(h.engine.SetModels(t.Context(), []engine.Model{retired}))
		},
		"hours later": func(*harness) { time.Sleep(3 * time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startHosted(t, yieldImages(1, nil))
				p := h.prepare(imagegen.GenerateRequest{References: []imagegen.Reference{bytesReference(pngOf(8, 8))}})
				first, err := h.engine.As(alice).GenerateTx(t.Context(), hostTx{}, p)
				h.is.NoErr(err)
				h.ended(first.ID)
				meanwhile(h)
				again, err := h.engine.As(alice).GenerateTx(t.Context(), hostTx{}, p)
				h.is.NoErr(err)
				h.is.Equal(again.ID, first.ID)
				h.is.Equal(h.balance(), imagegen.Credits(99))
			})
		})
	}
}

// The host may have no connection left while its transaction is open: its sign-in is not asked for then.
func TestPreparedAsksNoSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHosted(t, yieldImages(1, nil))
		host := &signIns{}
		ctx := account.WithCaller(t.Context(), engine.Caller{User: alice, Still: host.still})
		s, err := h.engine.Authenticate(ctx, "")
		h.is.NoErr(err)
		time.Sleep(time.Minute)
		p, err := s.Prepare(t.Context(), fox(imagegen.GenerateRequest{}))
		h.is.NoErr(err)
		asked := host.asked
		h.is.True(asked > 0)
		time.Sleep(time.Minute)
		_, err = s.GenerateTx(t.Context(), hostTx{}, p)
		h.is.NoErr(err)
		h.is.Equal(host.asked, asked)
	})
}

// One request is charged once, however often its transaction is repeated, or it is asked for.
func TestPreparedIsChargedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHosted(t, yieldImages(1, nil))
		asked := imagegen.GenerateRequest{IdempotencyKey: "order-1"}
		p, same := h.prepare(asked), h.prepare(asked)
		other := h.prepare(imagegen.GenerateRequest{IdempotencyKey: "order-1", Prompt: "a bear"})
		first, err := h.engine.As(alice).GenerateTx(t.Context(), hostTx{}, p)
		h.is.NoErr(err)
		h.is.True(!first.Replayed)
		for _, p := range []*engine.Prepared{p, same, h.prepare(asked)} {
			again, err := h.engine.As(alice).GenerateTx(t.Context(), hostTx{}, p)
			h.is.NoErr(err)
			h.is.Equal(again.ID, first.ID)
			h.is.Equal(again.Status, imagegen.StatusQueued)
			_, err = h.engine.As(bob).GenerateTx(t.Context(), hostTx{}, p)
			h.is.True(errors.Is(err, imagegen.ErrInvalidRequest)) // it is none of his
		}
		_, err = h.engine.As(alice).GenerateTx(t.Context(), hostTx{}, other)
		h.is.True(errors.Is(err, imagegen.ErrIdempotencyKeyReused))
		h.is.Equal(h.balance(), imagegen.Credits(99))
		h.ended(first.ID)
	})
}

// Prepare refuses what Generate refuses; GenerateTx what has changed since.
func TestPrepareRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		admits := true
		h := startHosted(t, slowly(time.Hour), func(c *engine.Config) {
			c.Limits.MaxQueued, c.Limits.Concurrency = 1, 1
			c.Admit = func(context.Context, engine.Admission) error {
				if !admits {
					return imagegen.Invalid("no foxes")
				}
				return nil
			}
		})
		refused := func(q imagegen.GenerateRequest, want error) {
			t.Helper()
			_, err := h.engine.As(alice).Prepare(t.Context(), fox(q))
			h.is.True(errors.Is(err, want))
		}
		refused(imagegen.GenerateRequest{Model: "another"}, imagegen.ErrInvalidRequest)
		refused(imagegen.GenerateRequest{MaxCredits: 1, N: 2}, imagegen.ErrInvalidRequest)
		admits = false
		refused(imagegen.GenerateRequest{}, imagegen.ErrInvalidRequest)
		admits = true
		p, late := h.prepare(imagegen.GenerateRequest{}), h.prepare(imagegen.GenerateRequest{})
		_, err := h.engine.As(bob).GenerateTx(t.Context(), hostTx{}, p)
		h.is.True(errors.Is(err, imagegen.ErrInvalidRequest)) // it was prepared for another user
		_, err = h.engine.As(alice).GenerateTx(t.Context(), hostTx{}, p)
		h.is.NoErr(err)
		time.Sleep(time.Second) // it runs
		_, err = h.generate(imagegen.GenerateRequest{Async: true})
		h.is.NoErr(err)
		refused(imagegen.GenerateRequest{}, imagegen.ErrOverloaded)
		retired := h.cfg.Models[0]
		retired.Retired = true
		h.is.NoErr(h.engine.SetModels(t.Context(), []engine.Model{retired}))
		_, err = h.engine.As(alice).GenerateTx(t.Context(), hostTx{}, late)
		h.is.True(errors.Is(err, imagegen.ErrInvalidRequest))
		h.is.NoErr(h.engine.Stop(t.Context()))
		_, err = h.engine.As(alice).GenerateTx(t.Context(), hostTx{}, late)
		h.is.True(errors.Is(err, imagegen.ErrInvalidRequest) || errors.Is(err, imagegen.ErrOverloaded))
	})
}

// Without a store that can write in the host's transactions, or a ledger that takes part, there is nothing to prepare.
func TestPrepareIsNotPossible(t *testing.T) {
	is := is.New(t)
	for _, h := range []*harness{start(t, yieldImages(1, nil)), startHosted(t, yieldImages(1, nil),
		withOutsideLedger)} {
		r, err := h.engine.As(alice).StageReference(t.Context(), readerOf(pngOf(8, 8)), "photo")
		is.NoErr(err)
		q := fox(imagegen.GenerateRequest{References: []imagegen.Reference{r}})
		_, err = h.engine.As(alice).Prepare(t.Context(), q)
		is.True(errors.Is(err, errors.ErrUnsupported))
		is.Equal(len(h.db.References()), 0)
	}
}

// An observer hears of what the host has committed once its wait ends, whichever way it ends, and once.
func TestHostedIsObserved(t *testing.T) {
	for name, end := range map[string]func(h *harness, id imagegen.GenerationID){
		"accepted settled": func(h *harness, id imagegen.GenerationID) { h.ended(id) },
		"accepted cancelled": func(h *harness, id imagegen.GenerationID) {
			_, _ = h.engine.As(alice).Cancel(h.Context(), id)
		},
		"accepted failed": func(h *harness, id imagegen.GenerationID) { time.Sleep(30 * time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var words string
				heard := func(more ...string) string {
					mu.Lock()
					defer mu.Unlock()
					words += strings.Join(more, "")
					return words
				}
				busy := make(chan struct{})
				h := startHosted(t, yieldImages(1, nil), func(c *engine.Config) {
					c.Limits.Concurrency = 1
					c.Attempts.Timeout = 100 * time.Hour
					c.Observer = imagegen.ObserverFunc(func(_ context.Context, e imagegen.Event) {
						if e.User == alice {
							heard(string(e.Kind), " ")
						}
					})
					p := c.Models[0].Provider.(*scripted)
					do := p.do
					p.do = func(ctx context.Context, r imagegen.ProviderRequest,
						yield func(imagegen.ProviderImage, error) bool) {
						if r.Prompt == "busy" {
							<-busy
						}
						do(ctx, r, yield)
					}
				})
				_, err := h.db.Grant(t.Context(), imagegen.Grant{User: bob, Credits: 1})
				h.is.NoErr(err)
				first, err := h.engine.As(bob).Generate(t.Context(), fox(imagegen.GenerateRequest{Prompt: "busy",
					Async: true}))
				h.is.NoErr(err)
				time.Sleep(time.Second)
				r, err := h.engine.As(alice).GenerateTx(t.Context(), hostTx{}, h.prepare(imagegen.GenerateRequest{}))
				h.is.NoErr(err)
				h.engine.As(alice).Wake()
				time.Sleep(time.Second)
				h.is.Equal(heard(), "")
				if name == "accepted settled" {
					close(busy)
				}
				end(h, r.ID)
				synctest.Wait()
				h.is.Equal(heard(), name+" ")
				if name != "accepted settled" {
					close(busy)
				}
				h.endedFor(bob, first.ID)
			})
		})
	}
}

// whole hides that only one process can have a database.
type whole struct {
	imagegen.TxStore
	imagegen.ImageStore
	imagegen.Spool
}

// An engine that does no work leaves it to another one, waits for it, and refuses what it would have to do itself.
func TestWorkNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil))
		cfg := h.cfg
		cfg.Store, cfg.Work = whole{h.db, h.db, h.db}, engine.WorkNone
		cfg.Models = []engine.Model{{ID: "m", Provider: provider.Declared{Name: "scripted", Capabilities: anything,
			Check: func(r imagegen.ProviderRequest) error {
				if r.Prompt == "a cow" {
					return &imagegen.ProviderError{Class: imagegen.ClassInvalid, Message: "no cows"}
				}
				return nil
			}}.Provider(), Credits: cfg.Models[0].Credits}}
		web, err := engine.New(cfg)
		h.is.NoErr(err)
		h.is.NoErr(web.Start())
		_, err = web.As(alice).Generate(t.Context(), fox(imagegen.GenerateRequest{Prompt: "a cow", Async: true}))
		h.is.Equal(err.Error(), "invalid_request: no cows")
		ref, err := web.As(alice).StageReference(t.Context(), readerOf(pngOf(8, 8)), "photo")
		h.is.NoErr(err)
		_, err = web.As(alice).Generate(t.Context(),
			fox(imagegen.GenerateRequest{References: []imagegen.Reference{ref}}))
		h.is.Equal(err.Error(), "invalid_request: this service takes asynchronous requests alone: set async")
		h.is.Equal(h.balance(), imagegen.Credits(100))
		h.is.Equal(len(h.db.References()), 0)

		h.is.NoErr(h.engine.Stop(t.Context()))
		r, err := web.As(alice).Generate(t.Context(), fox(imagegen.GenerateRequest{Async: true}))
		h.is.NoErr(err)
		time.Sleep(time.Hour) // it does not even look
		g, err := web.As(alice).Generation(t.Context(), r.ID)
		h.is.NoErr(err)
		h.is.Equal(g.Status, imagegen.StatusQueued)
		h.restart() // a worker
		g, err = web.As(alice).Await(t.Context(), r.ID, imagegen.MaxAwait)
		h.is.NoErr(err)
		h.is.Equal(g.Status, imagegen.StatusSucceeded)
		h.is.NoErr(web.Stop(t.Context()))
	})
}

// A process whose files nobody else can have does its work itself.
func TestWorkNoneAlone(t *testing.T) {
	is, db := is.New(t), memory.New(nil)
	for want, parts := range map[string]whole{"Config.Images": {db, db, struct{ imagegen.Spool }{db}},
		"Config.Spool": {db, struct{ imagegen.ImageStore }{db}, db}} {
		cfg := engine.Config{Store: parts.TxStore, Ledger: db, Images: parts.ImageStore, Spool: parts.Spool}
		_, err := engine.New(cfg)
		is.NoErr(err)
		cfg.Store, cfg.Work = struct{ imagegen.TxStore }{db}, engine.WorkNone
		_, err = engine.New(cfg)
		is.Equal(err.Error(), "imagegen: "+want+
			" cannot be had by another process, and Config.Work is WorkNone: nobody would do the work")
	}
}

// A provider that is only declared makes nothing.
func TestDeclaredMakesNothing(t *testing.T) {
	is := is.New(t)
	p := provider.Declared{Name: "elsewhere", Capabilities: anything}.Provider()
	is.Equal(p.Name(), "elsewhere")
	is.NoErr(p.(imagegen.Checker).Check(imagegen.ProviderRequest{}))
	for _, err := range p.Generate(t.Context(), imagegen.ProviderRequest{}) {
		e, ok := errors.AsType[*imagegen.ProviderError](err)
		is.True(ok)
		is.Equal(e.Class, imagegen.ClassUnavailable)
	}
}
