package model_test

import (
	"errors"
	"time"

	"pgregory.net/rapid"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

// alice pays for carol, and for dora, who asks by a key of alice's on behalf of people.
const alice, carol = imagegen.UserID("alice"), imagegen.UserID("carol")

var (
	payer     = imagegen.User{ID: alice, Name: string(alice), AccountType: imagegen.DefaultAccountType}
	person    = account.Person{ID: "dora"}
	dora, _   = person.Member(payer)
	everybody = []imagegen.UserID{alice, "bob", carol, dora.ID}
)

// class is what the service knows of the members.
type class struct {
	key     imagegen.Secret
	each    imagegen.Credits // the limit of who comes by the key; 0: none
	members map[imagegen.UserID]member
	mayKnow bool // dora was made a member for an order that was refused after that
}

// member is one that the service knows.
type member struct {
	sponsor imagegen.UserID  // "": nobody pays for it any more
	limit   imagegen.Credits // 0: none
}

// enrol makes carol a member; dora comes with the first order that is accepted.
func (w *service) enrol(t *rapid.T) {
	w.class.members = map[imagegen.UserID]member{}
	for _, u := range []imagegen.User{payer, {ID: carol, Name: string(carol), AccountType: payer.AccountType}} {
		if err := w.database.CreateUser(w.Context(), u); err != nil {
			w.Fatal(err)
		}
	}
	w.class.each = w.someLimit(t)
	raw, _, err := w.Accounts().MintMembersKey(w.Context(), alice, "class", time.Time{}, 2,
		imagegen.KeyLimits{Credits: w.class.each})
	if err != nil {
		w.Fatal(err)
	}
	w.class.key = raw
	w.setSponsor(carol, member{alice, w.someLimit(t)})
}

// someLimit is none beside a ledger outside, which can keep none.
func (w *service) someLimit(t *rapid.T) imagegen.Credits {
	if w.outsideLedger != nil {
		return 0
	}
	return pick[imagegen.Credits](t, "limit of a member", 20, 0, 40, 3)
}

// sponsor has alice pay for a member no more, pay again, or pay up to another limit.
func (w *service) sponsor(t *rapid.T) {
	u := pick(t, "member", carol, dora.ID)
	m, known := w.class.members[u]
	if !known {
		t.SkipNow()
	}
	limit := w.class.each
	if u == carol {
		limit = w.someLimit(t)
	}
	if m.sponsor != "" && pick(t, "end", true, false) {
		w.setSponsor(u, member{})
		w.met.Add("sponsorships ended", 1)
		return
	}
	w.setSponsor(u, member{alice, limit})
}

func (w *service) setSponsor(u imagegen.UserID, m member) {
	if err := w.Engine.SetSponsor(w.Context(), u, m.sponsor, imagegen.KeyLimits{Credits: m.limit}); err != nil {
		w.Fatal(err)
	}
	w.class.members[u] = m
}

// sponsorOf is who pays for a user that asks now; "": the user.
func (w *service) sponsorOf(u imagegen.UserID) imagegen.UserID {
	if m, known := w.class.members[u]; known || u != dora.ID {
		return m.sponsor
	}
	return alice
}

// plan is what the service notes of an order when it comes.
func (w *service) plan(o *order) {
	o.payer = w.sponsorOf(o.user)
	_, known := w.class.members[dora.ID]
	o.unknown = o.user == dora.ID && !known
}

// gone reports whether an order is dora's, for whom alice pays no more.
func (w *service) gone(o *order) bool { return o.user == dora.ID && w.sponsorOf(dora.ID) != alice }

// accept makes dora a member.
func (w *service) accept(o *order) {
	if _, known := w.class.members[dora.ID]; o.user == dora.ID && !known {
		w.class.members[dora.ID] = member{alice, w.class.each}
	}
}

// overMember reports whether an order goes beyond the limit of its user as a member.
func (w *service) overMember(o *order) bool {
	limit := w.class.members[o.user].limit
	if o.unknown && w.class.each > 0 && o.charge().Credits > w.class.each {
		return true
	}
	return o.payer != "" && limit > 0 && w.books.memberUse(o.payer, o.user).Credits+o.charge().Credits > limit
}

// poorStranger reports whether an order of somebody unknown costs more than there is for it.
func (w *service) poorStranger(o *order, at time.Time) bool {
	w.books.look(at)
	return w.books.balance(alice).Credits < o.charge().Credits || w.class.each > 0 && o.charge().Credits > w.class.each
}

// mayHandIn is what decides whether files are kept: behind a key, that of its owner.
func (w *service) mayHandIn(o *order) imagegen.Credits {
	if o.user == dora.ID {
		return w.books.balance(alice).Credits
	}
	return w.balance(o.user).Credits
}

// balance is what a user sees: of a member, what its sponsor has and its limit leaves.
func (w *service) balance(u imagegen.UserID) imagegen.Balance {
	m := w.class.members[u]
	if m.sponsor == "" {
		b := w.books.balance(u)
		b.AccountType = imagegen.DefaultAccountType
		return b
	}
	b := imagegen.Balance{Credits: w.books.balance(m.sponsor).Credits, AccountType: imagegen.DefaultAccountType}
	if m.limit > 0 {
		b.Credits = min(b.Credits, max(0, m.limit-w.books.memberUse(m.sponsor, u).Credits))
	}
	return b
}

// balanceToTell is the balance in the answer to an order that has ended. It never has what a former sponsor has.
func (w *service) balanceToTell(o *order) *imagegen.Balance {
	b := w.balance(o.user)
	if w.outsideLedger == nil && o.payer != w.class.members[o.user].sponsor {
		return nil
	}
	return &b
}

// sameMembers compares who is a member, and whose. Nobody becomes one by an order that is refused for what it costs.
func (w *service) sameMembers() {
	w.Helper()
	u, err := w.database.User(w.Context(), dora.ID)
	m, known := w.class.members[dora.ID]
	switch {
	case errors.Is(err, imagegen.ErrNotFound) && !known:
	case err != nil, !known && !w.class.mayKnow:
		w.Fatalf("dora is a member: %t, %+v: %v", known, u, err)
	case !known:
		w.class.members[dora.ID] = member{alice, w.class.each}
	case u.Sponsor != m.sponsor || u.Limits.Credits != m.limit || u.Name != dora.Name:
		w.Fatalf("dora is %+v, want %+v", u, m)
	}
}

// sameUse compares what alice paid for members, as the ledger says it, with the books and with her journal.
func (w *service) sameUse() {
	w.Helper()
	if w.outsideLedger != nil {
		return
	}
	fact := func(ok bool, format string, args ...any) {
		if !ok {
			w.Fatalf(format, args...)
		}
	}
	const all = 1 << 30
	entries, err := w.History(w.Context(), alice, 0, all)
	fact(err == nil, "%v", err)
	journal := witness.ReadJournal(entries, fact)
	journal.Members(w.Context(), w.database, alice, everybody[2:], fact)
	for _, u := range everybody[2:] {
		use, err := w.MemberUse(w.Context(), alice, u)
		want := w.books.memberUse(alice, u)
		use.Daily, use.Monthly = 0, 0
		fact(err == nil && use == want, "%s used %+v, want %+v: %v", u, use, want, err)
	}
	w.met.Add("for members", len(journal.Charges))
}
