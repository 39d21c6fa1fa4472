package imagegentest

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/engine"
)

const (
	crowd = 500 // people behind one key, each with one image to make
	few   = 300 // images that are counted, and that the other customer wants: nobody runs out of work meanwhile
	apart = 8   // slots; the other customer's part may be so far from the half
)

// Payers tests, over a storage, five hundred members of one payer beside one other customer: of the images that are
// begun while both have work that waits, each of the two gets half, whether that work waits in the queue or its callers
// do. open opens an empty storage in a bubble of testing/synctest, and registers its closing with t.Cleanup.
func Payers(t *testing.T, open func(t *testing.T) Storage) {
	for name, test := range map[string]struct{ members, other bool }{
		"both in the queue":        {members: true, other: true},
		"both with callers":        {},
		"the members in the queue": {members: true},
		"the other in the queue":   {other: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPayers(t, open(t))
				defer p.hangUp()
				for n := range crowd {
					p.ask(p.pupil(n), fmt.Sprint("member ", n), test.members)
					if n < few {
						p.ask(p.engine.As(Bob), fmt.Sprint("other ", n), test.other)
					}
				}
				p.compare()
			})
		})
	}
}

// payers are a school with a key on behalf of its pupils, and Bob.
type payers struct {
	*testing.T
	is       *is.I
	engine   *engine.Engine
	upstream *overheard
	key      imagegen.Secret
	calling  context.Context
	hangUp   func() // ends the calls that wait
	asking   sync.WaitGroup
}

func newPayers(t *testing.T, db Storage) *payers {
	t.Helper()
	p := &payers{T: t, is: is.New(t), upstream: &overheard{dice: rand.New(rand.NewPCG(1, 2))}}
	p.engine = StartOver(t, db, func(c *engine.Config) {
		c.Models[0].Provider = p.upstream
		c.Limits = engine.Limits{Concurrency: apart + 1, FairShares: true, SlotWait: time.Hour} // of which one is kept
	})
	school, err := p.engine.Accounts().CreateUser(t.Context(), "school", "")
	p.is.NoErr(err)
	grant(t, db, school.ID, crowd)
	grant(t, db, Bob, crowd)
	p.key, _, err = p.engine.Accounts().MintMembersKey(t.Context(), school.ID, "chat", time.Time{}, crowd,
		imagegen.KeyLimits{})
	p.is.NoErr(err)
	calling, cancel := context.WithCancel(t.Context())
	p.calling, p.hangUp = calling, func() {
		cancel()
		p.asking.Wait()
	}
	return p
}

func (p *payers) pupil(n int) *engine.Session {
	p.Helper()
	ctx := account.WithPerson(p.Context(), account.Person{ID: fmt.Sprint("pupil ", n)})
	s, err := p.engine.Authenticate(ctx, p.key.Reveal())
	p.is.NoErr(err)
	return s
}

// ask asks for an image. Without async, a goroutine waits for it.
func (p *payers) ask(s *engine.Session, prompt string, async bool) {
	call := func() {
		_, err := s.Generate(p.calling, imagegen.GenerateRequest{Model: Model, Prompt: prompt, Size: small,
			Async: async})
		if err != nil && p.calling.Err() == nil {
			p.Errorf("%s: %v", prompt, err)
		}
	}
	if async {
		call()
		return
	}
	p.asking.Go(call)
}

// compare counts whose images are begun once all have asked.
func (p *payers) compare() {
	p.Helper()
	synctest.Wait()
	before, others := len(p.upstream.heard()), 0
	for len(p.upstream.heard()) < before+few {
		time.Sleep(time.Second)
	}
	for _, prompt := range p.upstream.heard()[before : before+few] {
		if strings.HasPrefix(prompt, "other") {
			others++
		}
	}
	p.Logf("%d of %d images are the other customer's", others, few)
	if others < few/2-apart || others > few/2+apart {
		p.Errorf("of %d images, %d are the other customer's", few, others)
	}
}

// overheard is an upstream that takes some seconds for an image, and notes what it is asked for.
type overheard struct {
	mu      sync.Mutex
	dice    *rand.Rand
	prompts []string
}

// hear notes a prompt, and tells how long its image takes.
func (u *overheard) hear(prompt string) time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.prompts = append(u.prompts, prompt)
	return 4*time.Second + time.Duration(u.dice.Int64N(int64(2*time.Second)))
}

func (u *overheard) heard() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.prompts
}

func (u *overheard) Name() string { return "overheard" }
func (u *overheard) Capabilities() imagegen.Capabilities {
	return imagegen.Capabilities{Verify: imagegen.VerifyStructure}
}

func (u *overheard) Generate(ctx context.Context, q imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		select {
		case <-time.After(u.hear(q.Prompt)):
			yield(imagegen.ProviderImage{Body: bytes.NewReader(smallOne())}, nil)
		case <-ctx.Done():
			yield(imagegen.ProviderImage{}, context.Cause(ctx))
		}
	}
}

var smallOne = sync.OnceValue(func() []byte { return PNG(small.Width, small.Height) })
