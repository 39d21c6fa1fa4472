package system

import (
	"cmp"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/chart"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/history"
)

// overviewView is the data of overview.html.
type overviewView struct {
	Count   int // of days
	Periods []frame.Filter
	*summary
	Credits   chart.Chart
	Earnings  *earnings // nil: nothing is known of them
	Models    []modelLine
	Users     []userUse        // those who spent most
	Keys      []keyUse         // those by which most was spent
	History   *history.History // nil: upstreams are not shown
	Watched   time.Time        // the beginning of the time that History covers
	Upstreams []upstreamLine
	Now       time.Time
	Status    *Status // nil: Config.Operations is
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

// Overview shows operators sums over all users, and how the service does. The sums may be a minute old: see
// summaries. What History and Operations know is that of this process.
func (s *Pages) Overview(p *frame.Page) (err error) {
	n := p.Days()
	v := overviewView{Count: n, Periods: p.Periods(), History: s.History, Now: p.Now}
	if v.summary, err = s.summaries.latest(p.Context(), p.Ledger, p.Engine, n, p.Now); err != nil {
		return err
	}
	v.Credits = v.chart(n)
	v.Earnings = s.newEarnings(p, v.summary, n)
	v.fillModels(s.History, p.Now)
	if err := v.fillConsumers(p); err != nil {
		return err
	}
	if s.Operations != nil {
		status, err := s.Operations.Status(p.Context())
		if err != nil {
			return err
		}
		v.Status = &status
	}
	return p.Render("overview", v)
}

// chart draws the credits of the days of the summary, of which there are n in all.
func (s *summary) chart(n int) chart.Chart {
	var credits []chart.Day
	for _, d := range slices.Backward(s.Days) {
		credits = append(credits, chart.Day{Date: d.Day, Amount: int64(d.Spent)})
	}
	return chart.New(chart.Credits, s.From, n, credits)
}

// fillModels fills in the lines of the models, with durations if h has any, and those of the upstreams. h may be nil.
func (v *overviewView) fillModels(h *history.History, now time.Time) {
	var took map[string]history.Durations
	if h != nil {
		took, v.Watched = h.Durations(now), h.Begun(now)
		for _, u := range h.Upstreams(now) {
			v.Upstreams = append(v.Upstreams, newUpstreamLine(u, now))
		}
	}
	for _, s := range v.byModel {
		v.Models = append(v.Models, modelLine{s, took[s.Model].Within(0.5), took[s.Model].Within(0.95)})
	}
}

// fillConsumers fills in the names of the users and keys that were charged most.
func (v *overviewView) fillConsumers(p *frame.Page) error {
	for _, s := range v.byUser {
		v.Users = append(v.Users, userUse{s, p.UserName(s.User)})
	}
	for _, s := range v.byKey { // there are at most maxConsumers, so each may cost a read
		use := keyUse{userUse: userUse{s, p.UserName(s.User)}}
		keys, err := p.Engine.Accounts().Keys(p.Context(), s.User)
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
