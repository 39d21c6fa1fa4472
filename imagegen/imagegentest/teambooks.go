package imagegentest

import (
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
)

// compare compares, once all work has ended, what was charged with what was allowed, and all sums with each other.
func (m *team) compare() {
	m.Helper()
	ctx := m.Context()
	eventually(m, "the end of all work", func() bool {
		_, open, err := m.db.Unsettled(ctx, "", 1)
		m.is.NoErr(err)
		return open == 0
	})
	for words, of := range m.counts {
		m.Logf("refused %d times: %s", of[nil], words)
	}
	journal := m.journal()
	of := m.replay(journal)
	m.is.Equal(cmp.Diff(of, m.usage()), "")

	for _, p := range m.members {
		use, err := m.db.MemberUse(ctx, m.sponsor.ID, p.id)
		m.is.NoErr(err)
		m.is.Equal(use.Credits, of[p.id].Spent)
		m.is.Equal(use.Concurrent, 0)
		page, err := m.nodes[0].As(p.id).Generations(ctx, imagegen.Query{Limit: imagegen.MaxPageSize})
		m.is.NoErr(err)
		images := 0
		for _, g := range page.Generations {
			images += len(g.Images)
		}
		m.is.Equal(page.Next, imagegen.GenerationID(""))
		m.is.Equal(images, of[p.id].Images) // a credit each
		m.is.Equal(imagegen.Credits(images), of[p.id].Spent)
	}
	members := 0
	for q := (imagegen.UserQuery{Sponsor: m.sponsor.ID}); ; {
		page, err := m.db.UserPage(ctx, q)
		m.is.NoErr(err)
		members += len(page.Users)
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	m.is.True(members <= teamSize)
	report, err := m.db.Audit(ctx)
	m.is.NoErr(err)
	m.is.Equal(len(report.Violations), 0)
}

// usage is that of the sponsor by member.
func (m *team) usage() map[imagegen.UserID]imagegen.UsageSums {
	m.Helper()
	today, err := m.db.Today(m.Context(), m.sponsor.ID)
	m.is.NoErr(err)
	rows, err := m.db.Usage(m.Context(), m.sponsor.ID, imagegen.UsageQuery{From: today.Add(-24 * time.Hour), To: today,
		By: []imagegen.UsageGroup{imagegen.UsageByMember}})
	m.is.NoErr(err)
	usage := map[imagegen.UserID]imagegen.UsageSums{}
	for _, row := range rows {
		usage[row.Member] = row.UsageSums
	}
	return usage
}

// journal is that of the sponsor, from the first entry.
func (m *team) journal() (all []imagegen.Entry) {
	m.Helper()
	for before := uint64(0); ; before = all[len(all)-1].Seq {
		page, err := m.db.History(m.Context(), m.sponsor.ID, before, 500)
		m.is.NoErr(err)
		if len(page) == 0 {
			break
		}
		all = append(all, page...)
	}
	slices.Reverse(all)
	return all
}

// replay adds up the journal by member, and compares each charge with the rules.
func (m *team) replay(journal []imagegen.Entry) map[imagegen.UserID]imagegen.UsageSums {
	m.Helper()
	of, open, balance := map[imagegen.UserID]imagegen.UsageSums{}, map[imagegen.UserID]int{}, imagegen.Credits(0)
	kinds := map[imagegen.EntryKind]int{}
	for _, e := range journal {
		kinds[e.Kind]++
		balance += e.Credits
		if balance < 0 || e.Balance != balance {
			m.Errorf("entry %d: the balance is %d, and should be %d", e.Seq, e.Balance, balance)
		}
		sums := of[e.Member]
		switch e.Kind {
		case imagegen.EntryCharge:
			sums.Charged -= e.Credits
			sums.Generations++
			open[e.Member]++
			m.allowed(e, sums.Charged-sums.Refunded, open[e.Member])
		case imagegen.EntrySettle:
			sums.Refunded += e.Credits
			sums.Spent += e.Used
			sums.Images += e.Images
			open[e.Member]--
			switch {
			case e.Cancelled:
				sums.Cancelled++
			case e.Used == 0:
				sums.Failed++
			}
		default:
			continue
		}
		of[e.Member] = sums
	}
	m.is.True(len(of) > teamSize/2) // of so many something was charged
	m.is.True(kinds[imagegen.EntryGrant] > 1 && kinds[imagegen.EntryRevoke] > 0)
	return of
}

// allowed checks a charge, after which its member uses so many credits and has so much work open.
func (m *team) allowed(e imagegen.Entry, credits imagegen.Credits, open int) {
	m.Helper()
	i := slices.IndexFunc(m.members, func(p *teamMember) bool { return p.id == e.Member })
	if i < 0 {
		m.Errorf("entry %d is for %q, who is not a member", e.Seq, e.Member)
		return
	}
	r := m.members[i].rules.at(e.Seq)
	if r.barred || m.all.at(e.Seq).barred || m.keys[e.Key].at(e.Seq).barred {
		m.Errorf("entry %d charges for %s, which it must not", e.Seq, e.Member)
	}
	if l := r.limits; l.Credits > 0 && credits > l.Credits || l.Concurrent > 0 && open > l.Concurrent {
		m.Errorf("entry %d: %s uses %d credits and has %d open, with the limits %+v", e.Seq, e.Member, credits, open, l)
	}
}
