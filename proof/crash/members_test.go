package crash_test

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

// carol is a member of alice's, and dora a person behind her key, who is a member with the first image.
const carol = imagegen.UserID("carol")

var (
	sponsor = imagegen.User{ID: alice, Name: string(alice), AccountType: imagegen.DefaultAccountType}
	dora, _ = account.Person{ID: "dora"}.Member(sponsor)
)

// mostOfMembers is what each member may use, where a ledger can keep limits.
const mostOfMembers = 1

// class is what an operator has done with the members.
type class struct {
	key   imagegen.Secret // on behalf of people
	leave operatorAct     // dora
}

// enrol has alice pay for carol, and for who comes by her key.
func (w *world) enrol() {
	ctx := context.Background()
	for _, u := range []imagegen.User{sponsor, {ID: carol, Name: string(carol), AccountType: sponsor.AccountType}} {
		if err := w.db.CreateUser(ctx, u); err != nil {
			w.Fatal(err)
		}
	}
	if err := w.db.SetSponsor(ctx, carol, alice, w.limits()); err != nil {
		w.Fatal(err)
	}
	accounts := account.New(w.db, imagegen.NewIDs(), w.now)
	raw, _, err := accounts.MintMembersKey(ctx, alice, "class", time.Time{}, 2, w.limits())
	if err != nil {
		w.Fatal(err)
	}
	w.class.key = raw
}

func (w *world) limits() (l imagegen.KeyLimits) {
	if w.joins() {
		l.Credits = mostOfMembers
	}
	return l
}

// payer is whose credits pay for a user.
func (w *world) payer(u imagegen.UserID) imagegen.UserID {
	if u == carol || u == dora.ID {
		return alice
	}
	return u
}

// send asks for images; dora has only the key.
func (w *world) send(ctx context.Context, u imagegen.UserID, q imagegen.GenerateRequest) (imagegen.Result, error) {
	if u != dora.ID {
		return w.engine.As(u).Generate(ctx, q)
	}
	s, err := w.engine.Authenticate(account.WithPerson(ctx, account.Person{ID: "dora"}), w.class.key.Reveal())
	if err != nil {
		return imagegen.Result{}, err
	}
	return s.Generate(ctx, q)
}

// playMembers has both ask, once more than their limits allow, and alice stop paying for dora while her image is made.
func playMembers(w *world) {
	if len(w.clientOrders) == 0 {
		w.generate(w.Context(), carol, keyed(fox("a", 1, false)))
	}
	w.repeatDoubtful()
	w.settle()
	for n, q := range []imagegen.GenerateRequest{fox("b", 1, false), fox("c", 1, true)} {
		if len(w.clientOrders) == n+1 && !w.steps.gone() {
			w.generate(w.Context(), []imagegen.UserID{carol, dora.ID}[n], keyed(q))
		}
	}
	w.repeatDoubtful()
	if len(w.clientOrders) < 3 || w.clientOrders[2].outcome != witness.Accepted {
		return
	}
	w.see(&w.class.leave, func() error {
		return w.engine.SetSponsor(w.Context(), dora.ID, "", imagegen.KeyLimits{})
	})
	if w.class.leave.done && len(w.clientOrders) == 3 {
		late := w.generate(w.Context(), dora.ID, keyed(fox("d", 1, true)))
		w.fact(late.outcome != witness.Accepted, "%q was accepted, though alice does not pay any more", late.Prompt)
	}
}

// judgeMembers: alice has paid for all of it.
func (w *world) judgeMembers() {
	if !w.members {
		return
	}
	for _, u := range []imagegen.UserID{carol, dora.ID} {
		entries, err := w.books.History(context.Background(), u, 0, 1)
		w.fact(err == nil && len(entries) == 0, "%s has a journal of its own: %v, %v", u, entries, err)
	}
	if w.class.leave.begun {
		u, err := w.db.User(context.Background(), dora.ID)
		w.fact(err == nil, "dora was accepted, and is not there: %v", err)
		w.class.leave.judge(w, "the end of the sponsorship", u.Sponsor == "")
	}
}
