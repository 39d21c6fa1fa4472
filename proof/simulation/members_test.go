package simulation_test

import (
	"context"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// class is the members: the last user, for whom the first one pays, and a person behind a key of the second one.
type class struct {
	w      *world
	dice   *dice
	pupil  imagegen.UserID                     // the person
	pays   map[imagegen.UserID]imagegen.UserID // the sponsor of each
	limits imagegen.KeyLimits                  // of each; a ledger that shares no transaction with the store keeps none
}

const personName = "pupil"

// newClass makes the members; the person comes with the first image.
func newClass(w *world, e *engine.Engine) *class {
	c := &class{w: w, dice: newDice(w.seed, "class"), pays: map[imagegen.UserID]imagegen.UserID{}}
	if w.plan.joint {
		c.limits.Credits = imagegen.Credits(30 + c.dice.below(200))
	}
	school, owner, member := w.listener.users[0], w.listener.users[1], w.listener.users[users-1]
	w.is.NoErr(e.SetSponsor(w.Context(), member, school, c.limits))
	raw, _, err := e.Accounts().MintMembersKey(w.Context(), owner, "", time.Time{}, 1, c.limits)
	w.is.NoErr(err)
	u, err := e.Accounts().User(w.Context(), owner)
	w.is.NoErr(err)
	person, err := account.Person{ID: personName}.Member(u)
	w.is.NoErr(err)
	c.pupil, c.pays[member], c.pays[person.ID] = person.ID, school, owner
	w.keys[c.pupil] = raw.Reveal()
	w.listener.users = append(w.listener.users, c.pupil)
	return c
}

// has reports whether a user is a member, at least at times.
func (c *class) has(u imagegen.UserID) bool { return c.pays[u] != "" }

// payer is who is granted credits for a user.
func (c *class) payer(u imagegen.UserID) imagegen.UserID {
	if c.has(u) {
		return c.pays[u]
	}
	return u
}

// run ends what sponsors pay, while work is under way, and begins it again.
func (c *class) run() {
	for range c.w.plan.rushes {
		time.Sleep(c.dice.between(0, 3*time.Minute))
		u := pick(c.dice, c.w.listener.users[users-1:])
		if _, err := c.w.db.User(c.w.Context(), u); err == nil && c.dice.chance(0.5) {
			c.set(u, "", imagegen.KeyLimits{})
			time.Sleep(c.dice.between(time.Second, 3*time.Minute))
			c.set(u, c.pays[u], c.limits)
			c.w.met.Add("sponsorships ended", 1)
		}
		time.Sleep(betweenRush - 6*time.Minute)
	}
}

// set insists until a host says that it is done.
func (c *class) set(u, sponsor imagegen.UserID, l imagegen.KeyLimits) {
	for {
		p := pick(c.dice, c.w.hosts).running()
		if p != nil && p.engine.SetSponsor(c.w.Context(), u, sponsor, l) == nil {
			return
		}
		time.Sleep(time.Second)
	}
}

// session is that of a user in a process; the person has only the key.
func (c *class) session(ctx context.Context, e *engine.Engine, u imagegen.UserID) (*engine.Session, error) {
	if u != c.pupil {
		return e.As(u), nil
	}
	return e.Authenticate(account.WithPerson(ctx, account.Person{ID: personName}), c.w.keys[u])
}

// named has requests of the person name it.
func (c *class) named(u imagegen.UserID, by http.RoundTripper) http.RoundTripper {
	if u != c.pupil {
		return by
	}
	return onBehalf{by}
}

// onBehalf names the person in each request.
type onBehalf struct{ http.RoundTripper }

func (t onBehalf) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Openwebui-User-Id", personName)
	return t.RoundTripper.RoundTrip(r)
}
