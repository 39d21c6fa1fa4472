package imagegentest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/engine"
)

const (
	teamSize = 100
	withKeys = teamSize / 2 // members with a key of their own; the others come behind that of the sponsor
	tooMany  = 10           // people who find no place
)

// Team tests a sponsor with a hundred members over a storage. They ask at once, while credits are granted and revoked,
// limits change, members are suspended, disabled and removed, and keys are revoked: the sponsor is never overdrawn, no
// member exceeds a limit, nothing is charged for who is refused, and usage by member is what the journal says. open
// opens an empty storage, once for each of the nodes that share it, and registers its closing with t.Cleanup.
func Team(t *testing.T, open func(t *testing.T) []Storage) {
	m := newTeam(t, open(t))
	over := make(chan struct{})
	var asking sync.WaitGroup
	end := sync.OnceFunc(func() {
		close(over)
		asking.Wait()
	})
	defer end()
	for i, p := range m.members {
		for caller := range 2 {
			dice := rand.New(rand.NewPCG(uint64(i), uint64(caller)))
			asking.Go(func() { m.keepAsking(p, dice, over) })
		}
	}
	asking.Go(func() { m.keepGranting(over) })
	m.administer()
	eventually(m, "charges for most members, grants and a revocation", func() bool {
		return m.renewed.Load() && len(m.usage()) > teamSize/2
	})
	end()
	m.compare()
}

// team is a sponsor with members, and what they were answered.
type team struct {
	*testing.T
	is      *is.I
	db      Storage // of the first node
	nodes   []*engine.Engine
	sponsor imagegen.User
	members []*teamMember
	all     teamRules                    // they hold for all members
	keys    map[imagegen.KeyID]teamRules // of the keys that were revoked
	renewed atomic.Bool                  // the sponsor got more credits and lost some

	mu       sync.Mutex
	shared   imagegen.Secret // the key on behalf of people
	sharedID imagegen.KeyID
	counts   map[string]map[*teamMember]int // how often somebody was refused, by the words that say why; nil: all
}

// teamMember is one of the people who ask.
type teamMember struct {
	id     imagegen.UserID
	person string // whom requests with the shared key name; "": the member has a key
	rules  teamRules

	key   imagegen.Secret // guarded by the mutex of team
	keyID imagegen.KeyID
}

func newTeam(t *testing.T, nodes []Storage) *team {
	t.Helper()
	m := &team{T: t, is: is.New(t), db: nodes[0], keys: map[imagegen.KeyID]teamRules{},
		counts: map[string]map[*teamMember]int{}}
	for _, db := range nodes {
		m.nodes = append(m.nodes, StartOver(t, db))
	}
	var err error
	m.sponsor, err = m.nodes[0].Accounts().CreateUser(t.Context(), "school", "EDU")
	m.is.NoErr(err)
	grant(t, m.db, m.sponsor.ID, teamSize/2)
	m.share()
	for i := range teamSize + tooMany {
		p := &teamMember{}
		m.members = append(m.members, p)
		if i >= withKeys {
			p.person = fmt.Sprint("pupil ", i)
			u, err := account.Person{ID: p.person}.Member(m.sponsor)
			m.is.NoErr(err)
			p.id, p.rules = u.ID, teamRules{{limits: behindKey}}
			continue
		}
		u, err := m.nodes[0].Accounts().CreateUser(t.Context(), fmt.Sprint("pupil ", i), "")
		m.is.NoErr(err)
		p.id = u.ID
		m.limit(p, imagegen.KeyLimits{Credits: imagegen.Credits(3 + i%3), Concurrent: 1 + i%2})
		m.mint(p)
	}
	return m
}

// behindKey are the limits that the shared key has for each new member.
var behindKey = imagegen.KeyLimits{Credits: 4, Concurrent: 1}

// share makes a key on behalf of people.
func (m *team) share() {
	m.Helper()
	raw, k, err := m.nodes[0].Accounts().MintMembersKey(m.Context(), m.sponsor.ID, "chat", time.Time{}, teamSize,
		behindKey)
	m.is.NoErr(err)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shared, m.sharedID = raw, k.ID
}

// mint makes a key of a member's.
func (m *team) mint(p *teamMember) {
	m.Helper()
	raw, k, err := m.nodes[0].Accounts().MintKey(m.Context(), p.id, "", time.Time{})
	m.is.NoErr(err)
	m.mu.Lock()
	defer m.mu.Unlock()
	p.key, p.keyID = raw, k.ID
}

// keepAsking has a member ask any node until it is over. Who is refused asks again, after a breath.
func (m *team) keepAsking(p *teamMember, dice *rand.Rand, over <-chan struct{}) {
	for {
		breath := time.Duration(0)
		if err := m.ask(p, m.nodes[dice.IntN(len(m.nodes))], dice); err != nil {
			m.note(p, err)
			breath = 10 * time.Millisecond
		}
		select {
		case <-over:
			return
		case <-time.After(breath):
		}
	}
}

// keyOf is the raw key that a member uses.
func (m *team) keyOf(p *teamMember) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.person != "" {
		return m.shared.Reveal()
	}
	return p.key.Reveal()
}

func (m *team) ask(p *teamMember, node *engine.Engine, dice *rand.Rand) error {
	ctx := account.WithPerson(m.Context(), account.Person{ID: p.person})
	s, err := node.Authenticate(ctx, m.keyOf(p))
	if err != nil {
		return err
	}
	b, err := s.Balance(ctx)
	if err == nil && b.Credits < 0 {
		m.Errorf("%s has a balance of %d", p.id, b.Credits)
	}
	ways := []string{"", "", "[fake:fail]", "[fake:images=1]", "[fake:delay=5ms]"}
	got, err := s.Generate(ctx, imagegen.GenerateRequest{Model: Model, Size: small, N: 1 + dice.IntN(2),
		Prompt: fmt.Sprint("a fox ", dice.Int64(), ways[dice.IntN(len(ways))]), Async: dice.IntN(2) == 0})
	if err == nil && !got.Status.Terminal() && dice.IntN(3) == 0 {
		_, err = s.Cancel(ctx, got.ID)
	}
	return err
}

// reasons are words of the messages that somebody in a team is refused with.
var reasons = []string{noCredits, overLimit, atOnce, noPlace, noKey, suspended, disabled, removed, sponsorAway}

const (
	noCredits   = "too few credits"
	overLimit   = "your account is limited to"
	atOnce      = "requests at once"
	noPlace     = "admits no more"
	noKey       = "does not exist or has been revoked"
	suspended   = "is suspended, and nothing was charged; the owner"
	disabled    = "is disabled"
	removed     = "is not a member"
	sponsorAway = "the account that pays for this one is suspended"
)

// note counts a refusal. What is neither one of the reasons nor how work may end is a fault.
func (m *team) note(p *teamMember, err error) {
	if errors.Is(err, imagegen.ErrGenerationFailed) || errors.Is(err, imagegen.ErrNotCancellable) ||
		strings.Contains(err.Error(), "who pays for the user has changed") {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, words := range reasons {
		if strings.Contains(err.Error(), words) {
			if m.counts[words] == nil {
				m.counts[words] = map[*teamMember]int{}
			}
			m.counts[words][p]++
			m.counts[words][nil]++
			return
		}
	}
	m.Errorf("%s %s: %v", p.id, p.person, err)
}

// refused tells how often a member was refused; nil: anybody.
func (m *team) refused(p *teamMember, words string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts[words][p]
}

// keepGranting gives the sponsor few credits as often as they are short, and takes some back.
func (m *team) keepGranting(over <-chan struct{}) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for seen := 0; ; {
		select {
		case <-over:
			return
		case <-tick.C:
		}
		if m.refused(nil, noCredits) < seen+100 {
			continue
		}
		seen = m.refused(nil, noCredits)
		_, err := m.db.Grant(m.Context(), imagegen.Grant{User: m.sponsor.ID, Credits: 12})
		if err == nil {
			_, err = m.db.Revoke(m.Context(), imagegen.Revocation{User: m.sponsor.ID, Credits: 2})
		}
		switch {
		case err == nil:
			m.renewed.Store(true)
		case !errors.Is(err, imagegen.ErrInsufficientCredits):
			m.Error(err)
		}
	}
}
