package storagetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// Trailed is a store with an audit trail, and everything whose acts are recorded there.
type Trailed interface {
	imagegen.Store
	account.LoginStore
	account.OperatorKeyStore
	imagegen.CreditAdmin
	account.TrailStore
}

// Trail tests an [account.TrailStore]. open returns an empty one whose clock is now,
// which is safe for concurrent use. If it has the method Audit of [imagegen.Inspector],
// its trail is audited too.
func Trail(t *testing.T, open func(t *testing.T, now func() time.Time) Trailed) {
	run := func(name string, test func(r *trail)) {
		t.Run(name, func(t *testing.T) {
			promises.Expect(t, "Trail/"+name)
			r := &trail{t: t, is: is.New(t), time: epoch}
			r.Trailed = open(t, r.now)
			t.Cleanup(func() { audit(t, r.Trailed) })
			test(r)
		})
	}
	run("EveryAct", testEveryAct)
	run("NothingForgotten", testNothingForgotten)
	run("RefusedActs", testRefusedActs)
	run("DeletedGenerations", testDeletedGenerations)
	run("NoSecrets", testTrailNoSecrets)
	run("Entries", testActorOfEntries)
	run("Note", testNote)
	run("TrailQuery", testTrailQuery)
	run("TrailSince", testTrailSince)
	run("TrailPages", testTrailPages)
	run("TrailRace", testTrailRace)
	run("FailedSignIns", testFailedSignIns)
	run("ManyFailedSignIns", testManyFailedSignIns)
	run("TidyTrail", testTidyTrail)
	run("TrailEndedContext", testTrailEndedContext)
}

// trail is a store under test, with a clock that the test moves.
type trail struct {
	Trailed
	t  *testing.T
	is *is.I

	mu   sync.Mutex
	time time.Time
}

func (r *trail) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.time
}

func (r *trail) pass(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.time = r.time.Add(d)
}

var olivia = account.Actor{Via: account.ViaConsole, Name: "olivia", User: "usr_o", Address: "192.0.2.1"}

// by is a context in which somebody acts.
func (r *trail) by(a account.Actor) context.Context { return account.WithActor(r.t.Context(), a) }

// rows are all rows that a query selects, newest first.
func (r *trail) rows(q account.TrailQuery) []account.TrailRow {
	r.t.Helper()
	q.Limit = account.MaxTrailPage
	var all []account.TrailRow
	for {
		p, err := r.Trail(r.t.Context(), q)
		r.is.NoErr(err)
		all = append(all, p.Rows...)
		if p.Next == 0 {
			return all
		}
		q.Before = p.Next
	}
}

// news returns the rows that f adds, newest first.
func (r *trail) news(f func()) []account.TrailRow {
	r.t.Helper()
	before := len(r.rows(account.TrailQuery{}))
	f()
	all := r.rows(account.TrailQuery{})
	return all[:len(all)-before]
}

func testRefusedActs(r *trail) {
	r.is.NoErr(r.CreateUser(r.by(olivia), imagegen.User{ID: "usr_1", Name: "alice"}))
	_, err := r.Grant(r.by(olivia), imagegen.Grant{User: "usr_1", Credits: 5, Ref: "r"})
	r.is.NoErr(err)
	for act, refused := range map[account.Act]func(ctx context.Context) error{
		account.ActUserCreate: func(ctx context.Context) error {
			return r.CreateUser(ctx, imagegen.User{ID: "usr_2", Name: "alice"})
		},
		account.ActCreditGrant: func(ctx context.Context) error {
			_, err := r.Grant(ctx, imagegen.Grant{User: "usr_1", Credits: 6, Ref: "r"})
			return err
		},
		account.ActCreditRevoke: func(ctx context.Context) error {
			_, err := r.Revoke(ctx, imagegen.Revocation{User: "usr_1", Credits: 6})
			return err
		},
		account.ActKeyRevoke: func(ctx context.Context) error {
			_, err := r.RevokeKey(ctx, "key_none", epoch)
			return err
		},
	} {
		news := r.news(func() { r.is.True(refused(r.by(olivia)) != nil) })
		r.is.Equal(len(news), 1)
		r.is.Equal(news[0].Act, act)
		r.is.Equal(news[0].Outcome, account.TrailRefused)
		r.is.Equal(diff(olivia, news[0].Actor), "")
	}
	tooMany := r.news(func() { // callers ask for members, as often as they like
		err := r.CreateMember(r.t.Context(), imagegen.User{ID: "usr_3", Name: "alice/zoe", Sponsor: "usr_1"}, 0)
		r.is.True(errors.Is(err, imagegen.ErrChargeRefused))
	})
	r.is.Equal(len(tooMany), 0)
}

// Somebody erases a generation: that is an act. Its age does: that is none.
func testDeletedGenerations(r *trail) {
	s := &store{t: r.t, is: r.is, Store: r.Trailed}
	one, two := s.bring(1, imagegen.StateSucceeded), s.bring(2, imagegen.StateFailed)
	news := r.news(func() {
		for range 2 {
			_, err := r.Update(r.by(olivia), one.Fence(), imagegen.EraseChange{})
			r.is.NoErr(err)
		}
		_, err := r.Update(r.t.Context(), two.Fence(), imagegen.EraseChange{Aged: true})
		r.is.NoErr(err)
	})
	r.is.Equal(len(news), 1)
	r.is.Equal(news[0].Act, account.ActGenerationDelete)
	r.is.Equal(news[0].Target, string(one.ID))
	r.is.Equal(news[0].User, alice)
	r.is.Equal(diff(olivia, news[0].Actor), "")
}

// Neither prompts nor secrets, nor what they could be guessed from, come into the trail.
func testTrailNoSecrets(r *trail) {
	testEveryAct(r)
	testDeletedGenerations(r)
	for _, row := range r.rows(account.TrailQuery{}) {
		text := fmt.Sprintf("%+v", row)
		for _, secret := range []string{"argon2", "fox", "\x01", "01000000", "[1 0 0"} {
			if strings.Contains(text, secret) {
				r.t.Errorf("%q stands in %s", secret, text)
			}
		}
	}
}

// The journal names who granted and who revoked.
func testActorOfEntries(r *trail) {
	for range 2 { // a repetition is not its first
		_, err := r.Grant(r.by(olivia), imagegen.Grant{User: alice, Credits: 5, Ref: "g"})
		r.is.NoErr(err)
	}
	_, err := r.Revoke(r.by(account.Actor{Via: account.ViaCommand, Name: "root"}), imagegen.Revocation{User: alice,
		Credits: 1})
	r.is.NoErr(err)
	_, err = r.Grant(r.t.Context(), imagegen.Grant{User: alice, Credits: 5})
	r.is.NoErr(err)
	entries, err := r.History(r.t.Context(), alice, 0, 10)
	r.is.NoErr(err)
	var actors []string
	for _, e := range entries {
		actors = append(actors, e.Actor)
	}
	r.is.Equal(diff([]string{"", "command:root", "console:olivia"}, actors), "")
}

func testNote(r *trail) {
	want := account.TrailRow{Act: account.ActGenerationView, Target: "gen_1", User: alice, Before: "a=1", After: "b=2",
		Outcome: account.TrailFailed}
	r.is.NoErr(r.Note(r.by(olivia), want))
	want.Seq, want.Time, want.Actor, want.Count = 1, epoch, olivia, 1
	r.is.Equal(diff([]account.TrailRow{want}, r.rows(account.TrailQuery{})), "")
	r.is.NoErr(r.Note(r.t.Context(), account.TrailRow{Act: "plugin.install", After: strings.Repeat("ü", 1<<20)}))
	row := r.rows(account.TrailQuery{})[0]
	r.is.Equal(row.Actor, account.Actor{}) // a program need not say who
	r.is.True(strings.HasPrefix(row.After, "üü") && len(row.After) < 1<<12)
}

func testTrailRace(r *trail) {
	for _, err := range together(racers, func(i int) error {
		return r.CreateUser(r.by(olivia), imagegen.User{ID: imagegen.UserID(fmt.Sprint("usr_", i)),
			Name: fmt.Sprint(i)})
	}) {
		r.is.NoErr(err)
	}
	rows := r.rows(account.TrailQuery{})
	r.is.Equal(len(rows), racers)
	for i, row := range rows {
		r.is.Equal(row.Seq, uint64(racers-i))
	}
}
