package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// contractPrice is what contract.md says that one image costs; 0: no line fits.
func contractPrice(m engine.Model, tier imagegen.Tier, effort imagegen.Quality, accountType string, references int,
	mask bool) imagegen.Credits {
	reference := m.ReferenceCredits
	for _, l := range m.Prices {
		if l.Quality != "" && l.Quality != effort {
			continue
		}
		if l.AccountType != "" && l.AccountType != accountType {
			continue
		}
		if references < l.References || l.Mask && !mask {
			continue
		}
		c, ok := l.Credits[tier]
		if !ok {
			continue
		}
		if l.ReferenceCredits != nil {
			reference = *l.ReferenceCredits
		}
		return c + imagegen.Credits(references)*reference
	}
	if c, ok := m.Credits[tier]; ok {
		return c + imagegen.Credits(references)*reference
	}
	return 0
}

// sizes are one of each tier.
var sizes = map[imagegen.Tier]imagegen.Size{"1K": {Width: 1024, Height: 1024}, "2K": {Width: 2048, Height: 2048},
	"4K": {Width: 4096, Height: 4096}}

func randomAmounts(random *rand.Rand) map[imagegen.Tier]imagegen.Credits {
	if random.IntN(3) == 0 {
		return imagegen.EveryTier(1 + imagegen.Credits(random.IntN(50)))
	}
	amounts := map[imagegen.Tier]imagegen.Credits{}
	for _, tier := range imagegen.Tiers() {
		if random.IntN(2) == 0 {
			amounts[tier] = 1 + imagegen.Credits(random.IntN(50))
		}
	}
	return amounts
}

var accountTypes = []string{"FREE", "PRO", "EDU"}

func randomLine(random *rand.Rand) (l imagegen.Price) {
	if random.IntN(2) == 0 {
		l.Quality = imagegen.Qualities()[random.IntN(4)]
	}
	if random.IntN(3) == 0 {
		l.AccountType = accountTypes[random.IntN(3)]
	}
	if random.IntN(3) == 0 {
		l.References = 1 + random.IntN(16)
	}
	l.Mask = random.IntN(4) == 0
	if random.IntN(3) == 0 {
		l.ReferenceCredits = new(imagegen.Credits(random.IntN(4)))
	}
	l.Credits = randomAmounts(random)
	return l
}

func randomModel(random *rand.Rand, p imagegen.Provider) engine.Model {
	m := engine.Model{ID: "m", Provider: p, ReferenceCredits: imagegen.Credits(random.IntN(3))}
	for range random.IntN(5) {
		m.Prices = append(m.Prices, randomLine(random))
	}
	if random.IntN(4) > 0 {
		m.Credits = randomAmounts(random)
	}
	if random.IntN(3) == 0 {
		tier, most := imagegen.Tiers()[random.IntN(3)], imagegen.Qualities()[random.IntN(4)]
		m.MaxEffort = map[imagegen.Tier]imagegen.Quality{tier: most}
	}
	return m
}

// 10,000 random requests at random price lists cost what the contract says. A list that is refused has a tier without a
// price at auto, or a line that none of all requests reaches; one that is taken has neither.
func TestRandomPrices(t *testing.T) {
	is := is.New(t)
	p := yieldImages(1, nil)
	p.caps.Mask = true
	h := start(t, p)
	users := map[string]*engine.Session{}
	for _, accountType := range accountTypes {
		u, err := h.engine.Accounts().CreateUser(t.Context(), "user-"+accountType, accountType)
		is.NoErr(err)
		users[accountType] = h.engine.As(u.ID)
	}
	random := rand.New(rand.NewPCG(1, 32))
	priced, refused, taken := 0, 0, 0
	for priced < 10_000 {
		m := randomModel(random, p)
		if len(m.Prices) == 0 && len(m.Credits) == 0 {
			continue
		}
		err := h.engine.SetModels(t.Context(), []engine.Model{m})
		is.Equal(err != nil, listIsWrong(m)) // %+v
		if err != nil {
			refused++
			continue
		}
		taken++
		for range 20 {
			priced++
			checkRandomQuote(t, random, m, users)
		}
	}
	t.Logf("%d lists were taken, %d refused", taken, refused)
	is.True(taken > 100 && refused > 100)
}

// listIsWrong reports whether a line is never the first that fits, or a tier on offer has no price at auto, by trying
// every request there can be.
func listIsWrong(m engine.Model) bool {
	lines := append(slices.Clone(m.Prices), imagegen.Price{Credits: m.Credits})
	if len(m.Credits) == 0 {
		lines = lines[:len(lines)-1]
	}
	reached := map[int]bool{}
	for _, tier := range imagegen.Tiers() {
		if len(m.Credits) > 0 && m.Credits[tier] == 0 ||
			!slices.ContainsFunc(lines, func(l imagegen.Price) bool { return l.Credits[tier] > 0 }) {
			continue // not on offer
		}
		for _, accountType := range append(accountTypes, "OTHER") {
			if contractPrice(m, tier, contractEffort(m, tier, "auto"), accountType, 0, false) == 0 {
				return true
			}
			for _, quality := range imagegen.Qualities() {
				for references := range 17 {
					for _, mask := range []bool{false, references > 0} {
						for i := range lines {
							upTo := engine.Model{Prices: lines[:i+1]}
							if contractPrice(upTo, tier, contractEffort(m, tier, quality), accountType, references,
								mask) > 0 {
								reached[i] = true
								break
							}
						}
					}
				}
			}
		}
	}
	return len(reached) < len(lines)
}

// contractEffort is the quality after the cap.
func contractEffort(m engine.Model, tier imagegen.Tier, asked imagegen.Quality) imagegen.Quality {
	order := map[imagegen.Quality]int{"low": 1, "medium": 2, "high": 3}
	most := order[m.MaxEffort[tier]]
	if most > 0 && (asked == "auto" || order[asked] > most) {
		return m.MaxEffort[tier]
	}
	return asked
}

func checkRandomQuote(t *testing.T, random *rand.Rand, m engine.Model, users map[string]*engine.Session) {
	t.Helper()
	is := is.New(t)
	tier, accountType := imagegen.Tiers()[random.IntN(3)], accountTypes[random.IntN(3)]
	q := imagegen.GenerateRequest{Model: "m", Prompt: "a fox", Size: sizes[tier], N: 1 + random.IntN(4),
		Quality: imagegen.Qualities()[random.IntN(4)], References: make([]imagegen.Reference, random.IntN(17))}
	if len(q.References) > 0 && random.IntN(2) == 0 {
		q.Mask = imagegen.Counted{}
	}
	effort := contractEffort(m, tier, q.Quality)
	want := contractPrice(m, tier, effort, accountType, len(q.References), q.Mask != nil)
	got, err := users[accountType].Quote(t.Context(), q)
	offered := len(m.Credits) == 0 || m.Credits[tier] > 0
	if capped := effort != q.Quality && q.Quality != "auto"; capped || want == 0 || !offered {
		is.True(errors.Is(err, imagegen.ErrInvalidRequest))
		return
	}
	is.NoErr(err)
	is.Equal(got.Price, want)
	is.Equal(got.Credits, want*imagegen.Credits(q.N))
	is.Equal(got.Effort, effort)
}

// What is quoted is charged, answered, written to the journal and summed up: at every combination of what a price can
// depend on, delivered in part or whole, with the ledger in the same commit or beside it.
func TestPricedMoney(t *testing.T) {
	eachLedger(t, func(t *testing.T, option func(*engine.Config)) {
		is := is.New(t)
		p := &scripted{caps: anything, do: func(_ context.Context, r imagegen.ProviderRequest,
			yield func(imagegen.ProviderImage, error) bool) {
			made := r.N
			if strings.HasPrefix(r.Prompt, "part") {
				made--
			}
			for range made {
				if !yield(picture(64, 64), nil) {
					return
				}
			}
		}}
		p.caps.Mask = true
		m := engine.Model{ID: "m", Provider: p, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 3},
			ReferenceCredits: 1,
			MaxEffort:        map[imagegen.Tier]imagegen.Quality{"1K": "medium"}, Prices: []imagegen.Price{
				{AccountType: "PRO", References: 2, Credits: imagegen.EveryTier(2),
					ReferenceCredits: new(imagegen.Credits(0))},
				{Mask: true, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 11}},
				{Quality: "low", Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1}}}}
		m.Prices[0].Credits = map[imagegen.Tier]imagegen.Credits{"1K": 2}
		h := start(t, p, func(c *engine.Config) { c.Models = []engine.Model{m} }, option)
		for _, accountType := range []string{"FREE", "PRO"} {
			u, err := h.engine.Accounts().CreateUser(t.Context(), "user-"+accountType, accountType)
			is.NoErr(err)
			_, err = h.db.Grant(t.Context(), imagegen.Grant{User: u.ID, Credits: 10_000})
			is.NoErr(err)
			h.everyCombination(u.ID, accountType, m)
		}
		h.audit()
	})
}

func (h *harness) everyCombination(u imagegen.UserID, accountType string, m engine.Model) {
	h.Helper()
	s, left, spent := h.engine.As(u), imagegen.Credits(10_000), imagegen.UsageSums{}
	for _, quality := range []imagegen.Quality{"auto", "low", "medium"} {
		for references := range 4 {
			for _, mask := range []bool{false, references > 0} {
				for n := 1; n <= 2; n++ {
					for _, prompt := range []string{"whole", "part"} {
						q := imagegen.GenerateRequest{Model: "m", Prompt: prompt, N: n, Quality: quality,
							Async: references%2 == 1,
							Size:  imagegen.Size{Width: 64, Height: 64}}
						for range references {
							q.References = append(q.References, bytesReference(pngOf(64, 64)))
						}
						if mask {
							q.Mask = bytesReference(imagegentest.Transparent(64, 64))
						}
						quote, err := s.Quote(h.Context(), q)
						h.is.NoErr(err)
						want := contractPrice(m, "1K", contractEffort(m, "1K", quality), accountType, references, mask)
						h.is.Equal(quote.Price, want)
						result, err := s.Generate(h.Context(), q)
						if made := n - len("whole") + len(prompt); n == 1 && prompt == "part" {
							h.is.True(made < n)
							h.is.True(q.Async || errors.Is(err, imagegen.ErrGenerationFailed))
						} else {
							h.is.NoErr(err)
						}
						id := result.ID
						if e, failed := errors.AsType[*imagegen.Error](err); failed {
							id = e.Generation
						}
						g := h.endedFor(u, id)
						h.is.Equal(g.CreditsRequested, quote.Credits)
						h.is.Equal(g.Credits, want*imagegen.Credits(len(g.Images)))
						h.is.Equal(g.Effort, quote.Effort)
						left -= g.Credits
						spent.Charged += g.CreditsRequested
						spent.Spent += g.Credits
						b, err := s.Balance(h.Context())
						h.is.NoErr(err)
						h.is.Equal(b.Credits, left)
					}
				}
			}
		}
	}
	today, err := h.db.Today(h.Context(), u)
	h.is.NoErr(err)
	rows, err := h.db.Usage(h.Context(), u, imagegen.UsageQuery{From: today, To: today})
	h.is.NoErr(err)
	h.is.Equal(rows[0].Charged, spent.Charged)
	h.is.Equal(rows[0].Spent, spent.Spent)
}

// A function Price that fails in any way refuses the request before the charge, and the operator learns of it; its own
// *imagegen.Error is the answer.
func TestPriceFunctionFails(t *testing.T) {
	for name, price := range map[string]func(context.Context, engine.Order) (imagegen.Credits, error){
		"panics": func(context.Context, engine.Order) (imagegen.Credits, error) { panic("no such tenant") },
		"errs":   func(context.Context, engine.Order) (imagegen.Credits, error) { return 5, errors.New("no tenant") },
		"hangs": func(context.Context, engine.Order) (imagegen.Credits, error) {
			time.Sleep(time.Minute)
			return 5,
				nil
		},
		"goes":     func(context.Context, engine.Order) (imagegen.Credits, error) { runtime.Goexit(); return 5, nil },
		"zero":     func(context.Context, engine.Order) (imagegen.Credits, error) { return 0, nil },
		"negative": func(context.Context, engine.Order) (imagegen.Credits, error) { return -1, nil },
		"too much": func(context.Context, engine.Order) (imagegen.Credits, error) {
			return imagegen.MaxCredits/2 + 1,
				nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &logbook{}
				h := start(t, yieldImages(2, nil), func(c *engine.Config) {
					c.Models[0].Price, c.Log = price, slog.New(slog.NewTextHandler(log, nil))
				})
				began := time.Now()
				_, err := h.generate(imagegen.GenerateRequest{N: 2})
				h.is.True(isCode(err, imagegen.ErrInternal))
				h.is.True(time.Since(began) <= time.Second)
				_, err = h.engine.As(alice).Quote(t.Context(), fox(imagegen.GenerateRequest{N: 2}))
				h.is.True(isCode(err, imagegen.ErrInternal))
				h.is.Equal(h.balance(), imagegen.Credits(100))
				p, err := h.engine.As(alice).Generations(t.Context(), imagegen.Query{})
				h.is.NoErr(err)
				h.is.Equal(len(p.Generations), 0)
				h.is.True(strings.Contains(log.String(), "Model.Price"))
				h.audit()
				time.Sleep(time.Hour) // what hung has returned
			})
		})
	}
	h := start(t, yieldImages(1, nil), func(c *engine.Config) {
		c.Models[0].Price = func(context.Context, engine.Order) (imagegen.Credits, error) {
			return 0, imagegen.ChargeRefused("the contract of this tenant has ended")
		}
	})
	_, err := h.generate(imagegen.GenerateRequest{})
	h.is.True(isCode(err, imagegen.ErrChargeRefused))
	h.is.Equal(h.balance(), imagegen.Credits(100))
}

// While a call hangs beyond its limit, no further one is made; once it has returned, there are prices again. It does
// not matter whether its caller has waited.
func TestPriceFunctionHangsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		hang := make(chan struct{})
		h := start(t, yieldImages(1, nil), func(c *engine.Config) {
			c.Models[0].Price = func(context.Context, engine.Order) (imagegen.Credits, error) {
				calls.Add(1)
				<-hang
				return 5, nil
			}
		})
		quote := func(within time.Duration) (imagegen.Quote, error) {
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			return h.engine.As(alice).Quote(ctx, fox(imagegen.GenerateRequest{}))
		}
		_, err := quote(time.Millisecond)
		h.is.True(err != nil)
		time.Sleep(time.Second)
		began := time.Now()
		for range 100 {
			_, err = quote(time.Minute)
			h.is.True(isCode(err, imagegen.ErrInternal))
		}
		h.is.Equal(time.Since(began), time.Duration(0))
		h.is.Equal(calls.Load(), int64(1))
		close(hang)
		synctest.Wait()
		q, err := quote(time.Minute)
		h.is.NoErr(err)
		h.is.Equal(q.Price, imagegen.Credits(5))
	})
}

// A function Price learns what was asked for, and is not asked for what was charged before.
func TestPriceFunctionIsAskedOnce(t *testing.T) {
	var mu sync.Mutex
	var asked []engine.Order
	h := start(t, yieldImages(4, nil), func(c *engine.Config) {
		c.Models[0].Price = func(_ context.Context, o engine.Order) (imagegen.Credits, error) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, o)
			return 7, nil
		}
	})
	q := imagegen.GenerateRequest{N: 2, Quality: "high", Size: imagegen.Size{Width: 1000, Height: 1000},
		IdempotencyKey: "k",
		References:     []imagegen.Reference{bytesReference(pngOf(64, 64))}}
	for range 2 {
		g, err := h.generate(q)
		h.is.NoErr(err)
		h.is.Equal(g.Credits, imagegen.Credits(14))
	}
	want := engine.Order{User: alice, AccountType: imagegen.DefaultAccountType, Model: "m", Tier: "1K", Ratio: "1:1",
		Size: q.Size, Effort: "high", N: 2, References: 1}
	h.is.Equal(cmp.Diff([]engine.Order{want}, asked), "")
	asked = nil
	// the nearest size is looked for
	_, err := h.generate(imagegen.GenerateRequest{Size: imagegen.Size{Width: 8192, Height: 16}})
	h.is.True(isCode(err, imagegen.ErrInvalidRequest))
	h.is.Equal(len(asked), 0)
	infos, err := h.engine.As(alice).Models(t.Context())
	h.is.NoErr(err)
	h.is.Equal(cmp.Diff(map[imagegen.Tier]imagegen.Credits{"1K": 7, "2K": 7, "4K": 7}, infos[0].Credits), "")
	h.is.Equal(len(asked), 3)
}

// max_credits binds new charges only: a call that repeats another one gets its answer.
func TestMaxCreditsOfARepetition(t *testing.T) {
	h := start(t, yieldImages(2, nil))
	q := imagegen.GenerateRequest{N: 2, IdempotencyKey: "k"}
	first, err := h.generate(q)
	h.is.NoErr(err)
	q.MaxCredits = 1
	again, err := h.generate(q)
	h.is.NoErr(err)
	h.is.True(again.Replayed)
	h.is.Equal(again.ID, first.ID)
	q.IdempotencyKey = "another"
	_, err = h.generate(q)
	h.is.True(isCode(err, imagegen.ErrInvalidRequest))
	h.is.Equal(h.balance(), imagegen.Credits(98))
}

// While a reload changes the prices under 200 callers, each pays what its answer says, and one of the prices there
// were.
func TestReloadUnderCallers(t *testing.T) {
	is := is.New(t)
	p := yieldImages(1, nil)
	p.do = func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
		yield(picture(64, 64), nil)
	}
	h := start(t, p)
	model := func(price imagegen.Credits) []engine.Model {
		return []engine.Model{{ID: "m", Provider: p, Credits: map[imagegen.Tier]imagegen.Credits{"1K": price}}}
	}
	is.NoErr(h.engine.SetModels(t.Context(), model(1)))
	var callers sync.WaitGroup
	for i := range 200 {
		u := imagegen.UserID(fmt.Sprintf("caller-%d", i))
		_, err := h.db.Grant(t.Context(), imagegen.Grant{User: u, Credits: 100})
		is.NoErr(err)
		callers.Go(func() {
			g, err := h.engine.As(u).Generate(t.Context(), fox(imagegen.GenerateRequest{Size: imagegen.Size{Width: 64,
				Height: 64},
				Async: i%2 == 0}))
			if err != nil {
				t.Error(err)
				return
			}
			done := h.endedFor(u, g.ID)
			b, err := h.engine.As(u).Balance(t.Context())
			if paid := 100 - b.Credits; err != nil || paid != done.Credits || paid != g.CreditsRequested || paid < 1 ||
				paid > 9 {
				t.Errorf("%s paid %d, and was answered %d of %d: %v", u, paid, done.Credits, g.CreditsRequested, err)
			}
		})
		if i%20 == 0 {
			is.NoErr(h.engine.SetModels(t.Context(), model(1+imagegen.Credits(i/20%9))))
		}
	}
	callers.Wait()
	h.audit()
}

// Where the size chose the tier, a quality above the cap is refused, and the highest is named; where the quality did,
// it is lowered, and the answer says so.
func TestCappedEffort(t *testing.T) {
	var asked []imagegen.Quality
	p := yieldImages(1, nil)
	p.do = func(_ context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
		asked = append(asked, r.Quality)
		yield(picture(4096, 4096), nil)
	}
	cap := func(c *engine.Config) {
		c.Models[0].MaxEffort = map[imagegen.Tier]imagegen.Quality{"4K": "medium", "1K": "low"}
	}
	h := start(t, p, cap)
	g, err := h.generate(imagegen.GenerateRequest{Quality: "high"})
	h.is.NoErr(err)
	h.is.Equal(g.Quality, imagegen.QualityHigh)
	h.is.Equal(g.Effort, imagegen.QualityMedium)
	g, err = h.generate(imagegen.GenerateRequest{Size: sizes["4K"]})
	h.is.NoErr(err)
	h.is.Equal(g.Effort, imagegen.QualityMedium) // auto
	h.is.Equal(asked, []imagegen.Quality{"medium", "medium"})
	_, err = h.generate(imagegen.GenerateRequest{Size: sizes["4K"], Quality: "high"})
	e, _ := errors.AsType[*imagegen.Error](err)
	h.is.True(isCode(err, imagegen.ErrInvalidRequest))
	h.is.Equal(e.Field, "quality")
	h.is.True(strings.Contains(e.Message, "the highest is medium"))
	h.is.Equal(h.balance(), imagegen.Credits(92))

	infos, err := h.engine.As(alice).Models(t.Context())
	h.is.NoErr(err)
	h.is.Equal(cmp.Diff(map[imagegen.Tier][]imagegen.Quality{"1K": {"auto", "low"}, "2K": imagegen.Qualities(),
		"4K": {"auto", "low", "medium"}}, infos[0].Efforts), "")

	h = start(t, p, cap, func(c *engine.Config) { c.Policy = engine.QualityFirst })
	g, err = h.generate(imagegen.GenerateRequest{Size: sizes["4K"], Quality: "high"})
	h.is.NoErr(err)
	h.is.Equal(g.Effort, imagegen.QualityMedium)
}

// What a model says of its prices and efforts is what the policy and the provider let requests ask for.
func TestPricesByPolicy(t *testing.T) {
	prices := []imagegen.Price{{Quality: "high", Credits: map[imagegen.Tier]imagegen.Credits{"4K": 9}}}
	amounts := map[imagegen.Tier]imagegen.Credits{"1K": 1, "2K": 2, "4K": 4}
	all := imagegen.Qualities()
	for name, c := range map[string]struct {
		policy  engine.Policy
		sizes   bool // whether the model takes explicit ones
		credits imagegen.Credits
		efforts map[imagegen.Tier][]imagegen.Quality
		wrong   imagegen.Quality // with which no request can reach 2K; "": there is none
	}{
		"size first": {engine.SizeFirst, true, 4, map[imagegen.Tier][]imagegen.Quality{"1K": all, "2K": all, "4K": all},
			""},
		"quality first": {engine.QualityFirst, true, 9, map[imagegen.Tier][]imagegen.Quality{"1K": {"auto", "low"},
			"2K": {"medium"}, "4K": {"high"}}, "low"},
		"no sizes": {engine.SizeFirst, false, 9, map[imagegen.Tier][]imagegen.Quality{"1K": {"auto", "low"},
			"2K": {"medium"}, "4K": {"high"}}, "low"},
	} {
		t.Run(name, func(t *testing.T) {
			p := yieldImages(1, nil)
			m := engine.Model{ID: "m", Provider: p, Prices: prices, Credits: amounts}
			if !c.sizes {
				m.Ratios = []imagegen.Ratio{"auto"}
			}
			h := start(t, p, func(cfg *engine.Config) { cfg.Policy, cfg.Models[0] = c.policy, m })
			infos, err := h.engine.As(alice).Models(t.Context())
			h.is.NoErr(err)
			h.is.Equal(infos[0].Credits["4K"], c.credits)
			h.is.Equal(cmp.Diff(c.efforts, infos[0].Efforts), "")
			if c.wrong == "" {
				return
			}
			m.Prices = append(slices.Clone(prices), imagegen.Price{Quality: c.wrong,
				Credits: map[imagegen.Tier]imagegen.Credits{"2K": 1}})
			h.is.Equal(len(m.PriceFaults(c.policy)), 1)
			h.is.True(h.engine.SetModels(t.Context(), []engine.Model{m}) != nil)
		})
	}
}

// Where the provider needs references, a price without them can never be asked for: none is needed or shown.
func TestPricesWithReferencesAlone(t *testing.T) {
	p := yieldImages(1, nil)
	p.caps.MinReferences = 1
	m := engine.Model{ID: "m", Provider: p, ReferenceCredits: 2, Prices: []imagegen.Price{{References: 1,
		Credits: imagegen.EveryTier(5)}}}
	h := start(t, p, func(cfg *engine.Config) { cfg.Models[0] = m })
	infos, err := h.engine.As(alice).Models(t.Context())
	h.is.NoErr(err)
	h.is.Equal(cmp.Diff(infos[0].Credits, imagegen.EveryTier(5)), "") // to which each reference adds 2
	m.Credits = imagegen.EveryTier(1)
	h.is.Equal(m.PriceFaults(nil)[0].Line, 1) // which nobody can reach
}

// Mistakes in prices are named with their line.
func TestPriceFaults(t *testing.T) {
	amounts := map[imagegen.Tier]imagegen.Credits{"1K": 1}
	for name, c := range map[string]struct {
		change func(*engine.Model)
		line   int
		says   string
	}{
		"both": {func(m *engine.Model) {
			m.Price = func(context.Context, engine.Order) (imagegen.Credits, error) { return 1, nil }
		}, -1, "not both"},
		"tier": {func(m *engine.Model) { m.Prices[0].Credits = map[imagegen.Tier]imagegen.Credits{"8K": 1} }, 0,
			"no tier"},
		"nothing": {func(m *engine.Model) { m.Prices[0].Credits = map[imagegen.Tier]imagegen.Credits{"1K": 0} }, 0,
			"cannot be a price"},
		"too much": {func(m *engine.Model) { m.Prices[0].Credits = imagegen.EveryTier(imagegen.MaxCredits) }, 0,
			"more than an account"},
		"references": {func(m *engine.Model) { m.Prices[0].ReferenceCredits = new(imagegen.MaxCredits) }, 0,
			"more than an account"},
		"refund":  {func(m *engine.Model) { m.ReferenceCredits = -1 }, 0, "cannot be a price"},
		"quality": {func(m *engine.Model) { m.Prices[0].Quality = "best" }, 0, "no quality"},
		"account": {func(m *engine.Model) { m.Prices[0].AccountType = "pro" }, 0, "capital letters"},
		"many":    {func(m *engine.Model) { m.Prices[0].References = 17 }, 0, "17 references"},
		"mask":    {func(m *engine.Model) { m.Prices[0].Mask = true }, 0, "takes none"},
		"never": {func(m *engine.Model) {
			m.Prices = append(m.Prices,
				imagegen.Price{Quality: "low", Credits: amounts})
		}, 1, "no request can reach"},
		"above a cap": {func(m *engine.Model) {
			m.MaxEffort = map[imagegen.Tier]imagegen.Quality{"1K": "medium"}
			m.Prices[0].Quality = "high"
		}, 0, "no request can reach"},
		"the last": {func(m *engine.Model) { m.Prices[0].Quality = "" }, 1, "no request can reach"},
		"no auto":  {func(m *engine.Model) { m.Credits = nil }, -1, "no price at quality auto"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			m := engine.Model{ID: "m", Provider: yieldImages(1, nil), Credits: amounts,
				Prices: []imagegen.Price{{Quality: "low", Credits: amounts}}}
			c.change(&m)
			faults := m.PriceFaults(nil)
			is.True(len(faults) > 0)
			is.Equal(faults[0].Line, c.line)
			is.True(strings.Contains(faults[0].Message, c.says)) // faults[0].Message
			_, err := engine.New(engine.Config{Models: []engine.Model{m}})
			is.True(err != nil && strings.Contains(err.Error(), faults[0].Message))
		})
	}
}

// A model whose price cannot be had is left out of the list, and what was handed out is the caller's own.
func TestModelsWithoutTheirPrice(t *testing.T) {
	h := start(t, yieldImages(1, nil), func(c *engine.Config) {
		c.Models[0].Prices = []imagegen.Price{{Quality: "low", Credits: imagegen.EveryTier(1),
			ReferenceCredits: new(imagegen.Credits(5))}}
		c.Models = append(c.Models, engine.Model{ID: "tenants", Provider: c.Models[0].Provider,
			Credits: imagegen.EveryTier(1), Price: func(context.Context, engine.Order) (imagegen.Credits, error) {
				return 0, imagegen.ChargeRefused("the contract of this tenant has ended")
			}})
	})
	infos, err := h.engine.As(bob).Models(t.Context())
	h.is.NoErr(err)
	h.is.Equal(len(infos), 1)
	offers, err := h.engine.As(bob).Offers(t.Context())
	h.is.NoErr(err)
	h.is.Equal(len(offers), 2)
	*infos[0].Prices[0].ReferenceCredits, infos[0].Efforts["1K"][1] = 0, "high"
	again, err := h.engine.As(alice).Models(t.Context())
	h.is.NoErr(err)
	h.is.Equal(*again[0].Prices[0].ReferenceCredits, imagegen.Credits(5))
	h.is.Equal(cmp.Diff(imagegen.Qualities(), again[0].Efforts["1K"]), "")
}
