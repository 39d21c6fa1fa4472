package console

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// overviewView is the data of overview.html.
type overviewView struct {
	Count   int // of days
	Periods []filter
	*summary
	Credits, Images chart
	Models          []modelLine
	Users           []userUse // those who spent most
	Keys            []keyUse  // those by which most was spent
	History         *History  // nil: upstreams are not shown
	Watched         time.Time // the beginning of the time that History covers
	Upstreams       []upstreamLine
	Now             time.Time
	Status          *Status     // nil: Config.Operations is
	LastAudit       *endedAudit // nil: none is known
}

// modelLine is what became of a model's generations.
type modelLine struct {
	sums
	// Half and Most are the durations within which 50 % and 95 % of the successful generations ended lately; "": there
	// were none.
	Half, Most string
}

// userUse is what a user was charged.
type userUse struct {
	sums
	Name string // "": the user is not known here
}

// keyUse is what was charged to an API key.
type keyUse struct {
	userUse
	KeyName string // "": the key is gone
}

// overview shows operators sums over all users, and how the service does. The sums may be a minute old: see
// summaries. What History and Operations know is that of this process.
func (c *Console) overview(p *page) (err error) {
	n := p.days()
	v := overviewView{Count: n, Periods: p.periods(n), History: c.cfg.History, Now: p.now}
	if v.summary, err = c.summaries.of(p.context(), c.cfg.Ledger, n, p.now); err != nil {
		return err
	}
	v.Credits, v.Images = v.charts(n)
	v.models(c.cfg.History, p.now)
	if err := c.consumers(p, &v); err != nil {
		return err
	}
	if c.cfg.Operations != nil {
		s, err := c.status(p)
		if err != nil {
			return err
		}
		if v.Status = &s; s.LastAudit != nil {
			v.LastAudit = &endedAudit{s.LastAudit}
		}
	}
	return p.render("overview", v)
}

// days is how many days the address asks for; anything but one of periods counts as the first of them.
func (p *page) days() int {
	n, _ := strconv.Atoi(p.r.URL.Query().Get("days"))
	if !slices.Contains(periods, n) {
		n = periods[0]
	}
	return n
}

// charts draws the days of the summary, of which there are n in all.
func (s *summary) charts(n int) (spent, images chart) {
	var credits, pictures []day
	for _, d := range slices.Backward(s.Days) {
		credits, pictures = append(credits, day{d.Day, int64(d.Spent)}), append(pictures, day{d.Day, int64(d.UsageSums.Images)})
	}
	return newChart(ofCredits, s.From, n, credits), newChart(ofImages, s.From, n, pictures)
}

// models fills in the lines of the models, with durations if h has any, and those of the upstreams. h may be nil.
func (v *overviewView) models(h *History, now time.Time) {
	var took map[string]durations
	if h != nil {
		took, v.Upstreams, v.Watched = h.latencies(now), upstreamLines(h.health(now), now), h.watched(now)
	}
	for _, s := range v.byModel {
		v.Models = append(v.Models, modelLine{s, took[s.Model].Within(0.5), took[s.Model].Within(0.95)})
	}
}

// consumers fills in the names of the users and keys that were charged most.
func (c *Console) consumers(p *page, v *overviewView) error {
	for _, s := range v.byUser {
		v.Users = append(v.Users, userUse{s, c.nameOf(p.context(), s.User)})
	}
	for _, s := range v.byKey { // there are at most maxConsumers, so each may cost a read
		use := keyUse{userUse: userUse{s, c.nameOf(p.context(), s.User)}}
		keys, err := c.cfg.Engine.Accounts().Keys(p.context(), s.User)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(keys, func(k imagegen.Key) bool { return k.ID == s.Key }); i >= 0 {
			use.KeyName = cmp.Or(keys[i].Name, keys[i].Prefix+"…")
		}
		v.Keys = append(v.Keys, use)
	}
	return nil
}

// failures is the share of generations that failed, among those that were not cancelled.
func failures(s imagegen.UsageSums) string { return share(s.Failed, s.Generations-s.Cancelled) }

// share formats a part of a whole in percent; a dash if the whole is nothing.
func share(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}
