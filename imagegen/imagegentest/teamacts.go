package imagegentest

import (
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
)

// teamRule is what held for a member, or for all, from one entry of the sponsor's journal to another.
type teamRule struct {
	after, until uint64 // the last entry before it, and its own last one; 0: it still holds
	limits       imagegen.KeyLimits
	barred       bool // nothing is charged
}

// teamRules follow each other. While an act is under way, either of two may hold, and there is none.
type teamRules []*teamRule

// at is the rule for an entry; the zero rule, which forbids nothing, if there is none.
func (rs teamRules) at(seq uint64) teamRule {
	for _, r := range rs {
		if r.after < seq && (r.until == 0 || seq <= r.until) {
			return *r
		}
	}
	return teamRule{}
}

// change puts a rule in the place of the one that holds.
func (m *team) change(rs *teamRules, to teamRule, act func() error) {
	m.Helper()
	if n := len(*rs); n > 0 {
		(*rs)[n-1].until = m.newest()
	}
	m.is.NoErr(act())
	to.after = m.newest()
	*rs = append(*rs, &to)
}

// newest is the number of the newest entry of the sponsor's journal, which begins with a grant.
func (m *team) newest() uint64 {
	m.Helper()
	entries, err := m.db.History(m.Context(), m.sponsor.ID, 0, 1)
	m.is.NoErr(err)
	return entries[0].Seq
}

func (m *team) limit(p *teamMember, l imagegen.KeyLimits) {
	m.Helper()
	m.change(&p.rules, teamRule{limits: l}, func() error {
		return m.nodes[0].SetSponsor(m.Context(), p.id, m.sponsor.ID, l)
	})
}

// bar has nothing charged any more, and waits until a member was refused for it; nil: anybody.
func (m *team) bar(rs *teamRules, p *teamMember, words string, act func() error) {
	m.Helper()
	before := m.refused(p, words)
	m.change(rs, teamRule{barred: true}, act)
	eventually(m, fmt.Sprintf("a refusal that says %q", words), func() bool { return m.refused(p, words) > before })
}

func (m *team) revoke(k imagegen.KeyID, p *teamMember) {
	m.Helper()
	rs := m.keys[k]
	m.bar(&rs, p, noKey, func() error {
		_, err := m.nodes[0].Accounts().RevokeKey(m.Context(), k)
		return err
	})
	m.keys[k] = rs
}

// administer does what an operator and the sponsor can do, while the members ask.
func (m *team) administer() {
	m.Helper()
	ctx, accounts := m.Context(), m.nodes[0].Accounts()
	eventually(m, "a team that is full", func() bool { return m.refused(nil, noPlace) > 0 })
	var behind []*teamMember // the members that are behind the shared key
	for _, p := range m.members[withKeys:] {
		if _, err := accounts.User(ctx, p.id); err == nil {
			behind = append(behind, p)
		}
	}
	m.is.Equal(len(behind), teamSize-withKeys)
	const each = 2 // of both kinds, for each act
	for i := range each {
		m.suspend(m.members[i])
		m.suspend(behind[i])
		own := m.members[each+i]
		m.revoke(own.keyID, own)
		m.mint(own)
	}
	m.revoke(m.sharedID, behind[0])
	m.share()
	m.bar(&m.all, nil, sponsorAway, func() error { return accounts.SuspendUser(ctx, m.sponsor.ID) })
	m.change(&m.all, teamRule{}, func() error { return accounts.ResumeUser(ctx, m.sponsor.ID) })
	for i := range each {
		for p, words := range map[*teamMember]string{m.members[2*each+i]: noKey, behind[2*each+i]: disabled} {
			m.bar(&p.rules, p, words, func() error { return accounts.DisableUser(ctx, p.id) })
		}
		for p, words := range map[*teamMember]string{m.members[3*each+i]: noCredits, behind[3*each+i]: removed} {
			m.bar(&p.rules, p, words, func() error {
				return m.nodes[0].SetSponsor(ctx, p.id, "", imagegen.KeyLimits{})
			})
		}
	}
	for _, words := range reasons {
		eventually(m, fmt.Sprintf("a refusal that says %q", words), func() bool { return m.refused(nil, words) > 0 })
	}
}

// suspend suspends a member for a while, and changes its limits before and after.
func (m *team) suspend(p *teamMember) {
	m.Helper()
	ctx, accounts, more := m.Context(), m.nodes[0].Accounts(), imagegen.KeyLimits{Credits: 8, Concurrent: 2}
	m.limit(p, more)
	m.bar(&p.rules, p, suspended, func() error { return accounts.SuspendUser(ctx, p.id) })
	m.change(&p.rules, teamRule{limits: more}, func() error { return accounts.ResumeUser(ctx, p.id) })
	m.limit(p, imagegen.KeyLimits{Credits: 2, Concurrent: 1})
	m.limit(p, imagegen.KeyLimits{Credits: 7})
}
