package storagetest

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

func testSponsor(s *store) {
	ctx := s.t.Context()
	for _, u := range []imagegen.User{{ID: "usr_1", Name: "school"}, {ID: "usr_2", Name: "zoë"}, {ID: "usr_3",
		Name: "ann"},
		{ID: "usr_4", Name: "club"}} {
		s.is.NoErr(s.CreateUser(ctx, u))
	}
	limits := imagegen.KeyLimits{Credits: 5, Concurrent: 2}
	for range 2 { // repeating is success
		s.is.NoErr(s.SetSponsor(ctx, "usr_2", "usr_1", limits))
	}
	s.is.NoErr(s.SetSponsor(ctx, "usr_3", "usr_1", imagegen.KeyLimits{}))
	zoe, err := s.User(ctx, "usr_2")
	s.is.NoErr(err)
	s.is.Equal(diff(imagegen.User{ID: "usr_2", Name: "zoë", Sponsor: "usr_1", Limits: limits}, zoe), "")
	s.is.Equal(zoe.Payer(), imagegen.UserID("usr_1"))

	for _, c := range []struct {
		user, sponsor imagegen.UserID
		limits        imagegen.KeyLimits
		want          error
		says          string
	}{
		{"usr_9", "usr_1", imagegen.KeyLimits{}, imagegen.ErrNotFound, ""},
		{"usr_4", "usr_9", imagegen.KeyLimits{}, imagegen.ErrNotFound, ""},
		{"usr_4", "usr_4", imagegen.KeyLimits{}, imagegen.ErrInvalidRequest, `"club" cannot pay for itself`},
		{"usr_4", "usr_2", imagegen.KeyLimits{}, imagegen.ErrInvalidRequest, `"zoë" has a sponsor and cannot be one`},
		{"usr_1", "usr_4", imagegen.KeyLimits{}, imagegen.ErrInvalidRequest, `"school" pays for others`},
		{"usr_2", "usr_1", imagegen.KeyLimits{Daily: -1}, imagegen.ErrInvalidRequest, "credits per day"},
		{"usr_2", "", imagegen.KeyLimits{Daily: 1}, imagegen.ErrInvalidRequest, "limits are those of a member"},
	} {
		err := s.SetSponsor(ctx, c.user, c.sponsor, c.limits)
		s.is.True(errors.Is(err, c.want))
		if !strings.Contains(err.Error(), c.says) {
			s.t.Errorf("%v does not say %s", err, c.says)
		}
	}
	if i, ok := s.Store.(imagegen.Inspector); ok {
		s.membersAre(i, "usr_1", "ann", "zoë")
		s.membersAre(i, "usr_4")
		s.is.NoErr(s.SetSponsor(ctx, "usr_3", "", imagegen.KeyLimits{}))
		s.membersAre(i, "usr_1", "zoë")
		s.is.NoErr(s.SetSponsor(ctx, "usr_3", "usr_4", imagegen.KeyLimits{})) // nobody's member any more
		s.membersAre(i, "usr_4", "ann")
	}
}

// A member has the account type of its sponsor until one is set for it.
func testMemberType(s *store) {
	ctx := s.t.Context()
	for _, u := range []imagegen.User{{ID: "usr_1", Name: "school", AccountType: "PRO"},
		{ID: "usr_2", Name: "zoë", AccountType: imagegen.DefaultAccountType},
		{ID: "usr_3", Name: "ann", AccountType: "EDU"}} {
		s.is.NoErr(s.CreateUser(ctx, u))
	}
	has := func(u imagegen.UserID, want string) {
		s.t.Helper()
		got, err := s.User(ctx, u)
		s.is.NoErr(err)
		s.is.Equal(got.AccountType, want)
	}
	for _, u := range []imagegen.UserID{"usr_2", "usr_3"} {
		s.is.NoErr(s.SetSponsor(ctx, u, "usr_1", imagegen.KeyLimits{}))
	}
	has("usr_2", "")
	has("usr_3", "EDU")
	s.is.NoErr(s.SetAccountType(ctx, "usr_2", imagegen.DefaultAccountType))
	s.is.NoErr(s.SetSponsor(ctx, "usr_2", "usr_1", imagegen.KeyLimits{Daily: 3}))
	has("usr_2", imagegen.DefaultAccountType) // set while it is a member
	s.is.NoErr(s.SetAccountType(ctx, "usr_2", ""))
	has("usr_2", "")
	s.is.NoErr(s.SetSponsor(ctx, "usr_2", "", imagegen.KeyLimits{}))
	has("usr_2", imagegen.DefaultAccountType)
}

// Members are added up to a number, and each once.
func testCreateMember(s *store) {
	ctx := s.t.Context()
	s.is.NoErr(s.CreateUser(ctx, imagegen.User{ID: "usr_1", Name: "school"}))
	member := func(n int) imagegen.User {
		return imagegen.User{ID: imagegen.UserID(fmt.Sprint("usr_m", n)), Name: fmt.Sprint("school/", n),
			Sponsor: "usr_1",
			Limits:  imagegen.KeyLimits{Daily: 3}, Display: "Zoë"}
	}
	var created atomic.Int64
	for _, err := range together(40, func(i int) error {
		err := s.CreateMember(ctx, member(i%8), 5)
		if err == nil {
			created.Add(1)
		}
		return err
	}) {
		s.is.True(err == nil || errors.Is(err, imagegen.ErrChargeRefused) && imagegen.Definite(err))
	}
	all, err := s.Users(ctx)
	s.is.NoErr(err)
	s.is.Equal(len(all), 6) // and the school
	s.is.True(created.Load() >= 5)
	for _, u := range all[1:] { // repeating is success
		s.is.NoErr(s.CreateMember(ctx, u, 0))
		got, err := s.User(ctx, u.ID)
		s.is.NoErr(err)
		s.is.Equal(diff(u, got), "")
		s.is.Equal(got.Limits.Daily, imagegen.Credits(3))
	}
	s.is.True(errors.Is(s.CreateMember(ctx, imagegen.User{ID: "usr_9", Name: "x/9", Sponsor: "usr_8"}, 5),
		imagegen.ErrNotFound))
	taken := member(9)
	taken.Name = "school"
	s.is.True(errors.Is(s.CreateMember(ctx, taken, 99), imagegen.ErrExists))
}

// membersAre reads a sponsor's members page by page.
func (s *store) membersAre(i imagegen.Inspector, sponsor imagegen.UserID, want ...string) {
	s.t.Helper()
	var names []string
	for q := (imagegen.UserQuery{Limit: 1, Sponsor: sponsor}); ; {
		p, err := i.UserPage(s.t.Context(), q)
		s.is.NoErr(err)
		for _, u := range p.Users {
			names = append(names, u.Name)
		}
		if q.After = p.Next; q.After == "" {
			break
		}
	}
	s.is.Equal(diff(want, names), "")
}

// member makes bob a member of alice's, within limits.
func (j *joint) member(l imagegen.KeyLimits) {
	j.t.Helper()
	ctx := j.t.Context()
	for _, u := range []imagegen.UserID{alice, bob} {
		j.is.NoErr(j.CreateUser(ctx, imagegen.User{ID: u, Name: string(u), CreatedAt: epoch}))
	}
	j.is.NoErr(j.SetSponsor(ctx, bob, alice, l))
}

// Who has credits gets no sponsor, and who has a sponsor no credits, also where both are asked for at once.
func testCreditsOrSponsor(j *joint) {
	ctx := j.t.Context()
	j.is.NoErr(j.CreateUser(ctx, imagegen.User{ID: alice, Name: "alice", CreatedAt: epoch}))
	refused := func(err error, says string) {
		j.t.Helper()
		j.is.True(errors.Is(err, imagegen.ErrInvalidRequest) && imagegen.Definite(err))
		if !strings.Contains(err.Error(), says) {
			j.t.Errorf("%v does not say %s", err, says)
		}
	}
	users := make([]imagegen.UserID, 12)
	for i := range users {
		users[i] = imagegen.UserID(fmt.Sprintf("usr_%02d", i))
		j.is.NoErr(j.CreateUser(ctx, imagegen.User{ID: users[i], Name: string(users[i]), CreatedAt: epoch}))
	}
	grant := func(u imagegen.UserID) (imagegen.Granted, error) {
		return j.books.Grant(ctx, imagegen.Grant{User: u, Credits: 1, Ref: string(u)})
	}
	errs := together(2*len(users), func(i int) error {
		u := users[i/2]
		if i%2 == 0 {
			_, err := grant(u)
			return err
		}
		return j.SetSponsor(ctx, u, alice, imagegen.KeyLimits{})
	})
	for i, u := range users {
		granted, sponsored := errs[2*i], errs[2*i+1]
		got, err := j.User(ctx, u)
		j.is.NoErr(err)
		balance, err := j.books.Balance(ctx, u)
		j.is.NoErr(err)
		if got.Sponsor == "" {
			j.is.NoErr(granted)
			refused(sponsored, "has credits")
			j.is.Equal(balance.Credits, imagegen.Credits(1))
			continue
		}
		j.is.NoErr(sponsored)
		refused(granted, `is a member of "alice"`)
		j.is.Equal(balance.Credits, imagegen.Credits(0))
	}

	// Credits that are held count, and a repetition is answered as before.
	j.is.NoErr(j.CreateUser(ctx, imagegen.User{ID: bob, Name: "bob", CreatedAt: epoch}))
	_, err := grant(bob)
	j.is.NoErr(err)
	r := j.createCharged(1, synchronous, costs(1, 1), of(bob))
	refused(j.SetSponsor(ctx, bob, alice, imagegen.KeyLimits{}), "has credits")
	j.finish(r, imagesOf(r, 1))
	j.is.NoErr(j.SetSponsor(ctx, bob, alice, imagegen.KeyLimits{}))
	again, err := grant(bob)
	j.is.NoErr(err)
	j.is.True(again.Repeated)
	_, err = j.books.Grant(ctx, imagegen.Grant{User: bob, Credits: 1})
	refused(err, `user "bob" is a member of "alice"`)
}

func bobs(r *imagegen.Record) { r.User, r.Payer = bob, alice }

// A sponsor pays for its member: the journal, usage and what counts against limits name the member.
func testCreateForMember(j *joint) {
	j.member(imagegen.KeyLimits{Credits: 5, Daily: 9, Concurrent: 2})
	ctx := j.t.Context()
	first := j.createCharged(1, synchronous, costs(3, 1), bobs)
	j.createCharged(2, synchronous, costs(2, 1)) // alice's own
	j.has(5)
	over := func(n int, want error, change ...func(*imagegen.Record)) {
		j.t.Helper()
		r := recordNo(n, append(change, bobs)...)
		_, err := j.CreateCharged(ctx, r, aMinute)
		j.is.True(errors.Is(err, want))
		j.unwritten(r.ID, err)
	}
	over(3, imagegen.ErrInsufficientCredits, synchronous, costs(3, 1))
	second := j.createCharged(4, async, costs(2, 1), bobs)
	over(5, imagegen.ErrRateLimited, synchronous, costs(1, 1))
	ended := j.finish(first, imagesOf(first, 1)) // two came back
	j.is.Equal(ended.Balance.Credits, imagegen.Credits(2))
	j.is.Equal(ended.Balance.NextExpiration, nil)
	j.has(5)

	use, err := j.books.MemberUse(ctx, alice, bob)
	j.is.NoErr(err)
	j.is.Equal(diff(imagegen.KeyUse{Credits: 3, Daily: 3, Monthly: 3, Concurrent: 1}, use), "")
	today, err := j.books.Today(ctx, alice)
	j.is.NoErr(err)
	q := imagegen.UsageQuery{From: today, To: today, By: []imagegen.UsageGroup{imagegen.UsageByMember}}
	rows, err := j.books.Usage(ctx, alice, q)
	j.is.NoErr(err)
	own := imagegen.Usage{UsageSums: imagegen.UsageSums{Charged: 2, Generations: 1}}
	theirs := imagegen.Usage{Member: bob, UsageSums: imagegen.UsageSums{Charged: 5, Refunded: 2, Spent: 1, Images: 1,
		Generations: 2}}
	j.is.Equal(diff([]imagegen.Usage{own, theirs}, rows), "")
	q.By, q.Member, theirs.Member = nil, bob, ""
	rows, err = j.books.Usage(ctx, alice, q)
	j.is.NoErr(err)
	j.is.Equal(diff([]imagegen.Usage{theirs}, rows), "")
	all := imagegen.UsageSums{} // of all users, where each charge counts once
	j.is.NoErr(j.books.EachUsage(ctx, today, today, func(_ imagegen.UserID, u imagegen.Usage) {
		all = all.Plus(u.UsageSums)
	}))
	j.is.Equal(diff(own.UsageSums.Plus(theirs.UsageSums), all), "")
	entries, err := j.books.History(ctx, alice, 0, 2)
	j.is.NoErr(err)
	for _, e := range entries {
		j.is.Equal(e.Member, imagegen.UserID(bob))
	}

	j.is.NoErr(j.SetSponsor(ctx, bob, alice, imagegen.KeyLimits{}))
	j.createCharged(6, synchronous, costs(4, 1), func(r *imagegen.Record) { r.User, r.Payer = bob, alice })
	j.is.NoErr(j.SetSponsor(ctx, bob, "", imagegen.KeyLimits{}))
	over(7, imagegen.ErrNotApplied, synchronous, costs(1, 1)) // alice pays no more
	second = j.running(second)                                // but for what she has paid
	j.finish(second, imagesOf(second, 2))
	_, err = j.CreateCharged(ctx, recordNo(8, synchronous, costs(1, 1), of(bob)), aMinute)
	j.is.True(errors.Is(err, imagegen.ErrInsufficientCredits)) // bob's own account
}

// running claims a queued record.
func (j *joint) running(queued imagegen.Record) imagegen.Record {
	j.t.Helper()
	records, _, err := j.Claim(j.t.Context(), imagegen.ClaimRequest{Most: 1, Lease: aMinute})
	j.is.NoErr(err)
	j.is.Equal(len(records), 1)
	j.is.Equal(records[0].ID, queued.ID)
	return records[0]
}

// A member who is suspended is refused alone; with the sponsor, all members are.
func testCreateForSuspended(j *joint) {
	j.member(imagegen.KeyLimits{})
	ctx := j.t.Context()
	carol := imagegen.UserID("carol")
	j.is.NoErr(j.CreateUser(ctx, imagegen.User{ID: carol, Name: "carol", CreatedAt: epoch}))
	j.is.NoErr(j.SetSponsor(ctx, carol, alice, imagegen.KeyLimits{}))
	create := func(n int, u imagegen.UserID) error {
		_, err := j.CreateCharged(ctx, recordNo(n, synchronous, costs(1, 1), func(r *imagegen.Record) {
			r.User, r.Payer = u, alice
		}), aMinute)
		return err
	}
	j.is.NoErr(j.SuspendUser(ctx, bob, epoch))
	j.is.True(errors.Is(create(1, bob), imagegen.ErrChargeRefused))
	j.is.NoErr(create(2, carol))
	j.is.NoErr(j.SuspendUser(ctx, alice, epoch))
	j.is.True(errors.Is(create(3, carol), imagegen.ErrChargeRefused))
	j.is.NoErr(j.ResumeUser(ctx, alice))
	j.is.NoErr(create(4, carol))
	j.is.NoErr(j.DisableUser(ctx, alice, epoch.Add(time.Hour)))
	j.is.True(errors.Is(create(5, carol), imagegen.ErrChargeRefused))
}

// Members who ask at once never exceed their limits, nor what the sponsor has.
func testCreateForMembersRace(j *joint) {
	j.member(imagegen.KeyLimits{Credits: 3})
	ctx := j.t.Context()
	carol := imagegen.UserID("carol")
	j.is.NoErr(j.CreateUser(ctx, imagegen.User{ID: carol, Name: "carol", CreatedAt: epoch}))
	j.is.NoErr(j.SetSponsor(ctx, carol, alice, imagegen.KeyLimits{}))
	var accepted [2]atomic.Int64
	for _, err := range together(60, func(i int) error {
		_, err := j.CreateCharged(ctx, recordNo(i, synchronous, costs(1, 1), func(r *imagegen.Record) {
			r.User, r.Payer = []imagegen.UserID{bob, carol}[i%2], alice
		}), aMinute)
		if err == nil {
			accepted[i%2].Add(1)
		}
		return err
	}) {
		j.is.True(err == nil || errors.Is(err, imagegen.ErrInsufficientCredits) && imagegen.Definite(err))
	}
	j.t.Log(fmt.Sprint(accepted[0].Load(), " of bob's, ", accepted[1].Load(), " of carol's"))
	j.is.True(accepted[0].Load() <= 3)
	j.is.Equal(accepted[0].Load()+accepted[1].Load(), int64(10))
	j.has(0)
}
