package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
)

// sponsored makes zoe a member of a school that has 20 credits and the account type EDU.
func (h *harness) sponsored(l imagegen.KeyLimits) (school, zoe imagegen.User) {
	h.Helper()
	ctx, accounts := h.Context(), h.engine.Accounts()
	school, err := accounts.CreateUser(ctx, "school", "EDU")
	h.is.NoErr(err)
	zoe, err = accounts.CreateUser(ctx, "zoe", "")
	h.is.NoErr(err)
	_, err = h.db.Grant(ctx, imagegen.Grant{User: school.ID, Credits: 20})
	h.is.NoErr(err)
	h.is.NoErr(h.engine.SetSponsor(ctx, zoe.ID, school.ID, l))
	return school, zoe
}

// A member asks and owns, and the sponsor pays: balance, answers, usage and journal agree.
func TestMember(t *testing.T) {
	h := start(t, yieldImages(2, nil))
	ctx := t.Context()
	school, zoe := h.sponsored(imagegen.KeyLimits{Credits: 3})
	raw, _, err := h.engine.Accounts().MintKey(ctx, zoe.ID, "laptop", time.Time{})
	h.is.NoErr(err)
	s, err := h.engine.Authenticate(ctx, raw.Reveal())
	h.is.NoErr(err)

	b, err := s.Balance(ctx)
	h.is.NoErr(err)
	h.is.Equal(cmp.Diff(imagegen.Balance{Credits: 3, AccountType: "EDU"}, b), "") // the least of 20 and 3
	got, err := s.Generate(ctx, fox(imagegen.GenerateRequest{N: 2, IdempotencyKey: "k"}))
	h.is.NoErr(err)
	h.is.Equal(cmp.Diff(&imagegen.Balance{Credits: 1, AccountType: "EDU"}, got.Balance), "")
	again, err := s.Generate(ctx, fox(imagegen.GenerateRequest{N: 2, IdempotencyKey: "k"}))
	h.is.NoErr(err)
	h.is.True(again.Replayed)
	_, err = s.Generate(ctx, fox(imagegen.GenerateRequest{N: 2}))
	h.is.True(errors.Is(err, imagegen.ErrInsufficientCredits))
	h.is.True(strings.Contains(err.Error(), "your account is limited to 3 credits in all; it has used 2"))

	_, err = h.engine.As(school.ID).Generation(ctx, got.Generation.ID) // the sponsor does not see it
	h.is.True(errors.Is(err, imagegen.ErrNotFound))
	paid, err := h.engine.As(school.ID).Balance(ctx)
	h.is.NoErr(err)
	h.is.Equal(paid.Credits, imagegen.Credits(18))
	byMember := imagegen.UsageQuery{By: []imagegen.UsageGroup{imagegen.UsageByMember}}
	sums := imagegen.UsageSums{Charged: 2, Spent: 2, Images: 2, Generations: 1}
	of, err := h.engine.As(school.ID).Usage(ctx, byMember)
	h.is.NoErr(err)
	h.is.Equal(cmp.Diff([]imagegen.Usage{{Member: zoe.ID, MemberName: "zoe", UsageSums: sums}}, of.Rows), "")
	own, err := s.Usage(ctx, imagegen.UsageQuery{})
	h.is.NoErr(err)
	h.is.Equal(cmp.Diff([]imagegen.Usage{{UsageSums: sums}}, own.Rows), "")
	totals, err := h.engine.Totals(ctx, imagegen.UsageQuery{By: []imagegen.UsageGroup{imagegen.UsageByPayer,
		imagegen.UsageByUser}})
	h.is.NoErr(err)
	h.is.Equal(len(totals), 1)
	h.is.Equal(cmp.Diff(imagegen.TotalsKey{Payer: school.ID, User: zoe.ID}, totals[0].TotalsKey), "")
	_, err = s.Usage(ctx, imagegen.UsageQuery{By: []imagegen.UsageGroup{imagegen.UsageByKey}})
	h.is.True(errors.Is(err, imagegen.ErrInvalidRequest))
	h.audit()
}

// A member has the account type of its sponsor until one is set for it, FREE too.
func TestTypeOfMember(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	_, zoe := h.sponsored(imagegen.KeyLimits{})
	ctx, accounts := t.Context(), h.engine.Accounts()
	for _, c := range []struct{ set, want string }{{"FREE", "FREE"}, {"pro", "PRO"}, {"", "EDU"}} {
		h.is.NoErr(accounts.SetAccountType(ctx, zoe.ID, c.set))
		b, err := h.engine.As(zoe.ID).Balance(ctx)
		h.is.NoErr(err)
		h.is.Equal(b.AccountType, c.want)
	}
	h.is.NoErr(h.engine.SetSponsor(ctx, zoe.ID, "", imagegen.KeyLimits{}))
	h.is.True(errors.Is(accounts.SetAccountType(ctx, zoe.ID, ""), imagegen.ErrInvalidRequest)) // nobody's member
	u, err := accounts.User(ctx, zoe.ID)
	h.is.NoErr(err)
	h.is.Equal(u.AccountType, imagegen.DefaultAccountType)
}

// Credits would be out of reach of a member: who has some gets no sponsor, and who has a sponsor gets none.
func TestMemberHasNoCredits(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	ctx := t.Context()
	school, zoe := h.sponsored(imagegen.KeyLimits{})
	h.is.True(errors.Is(h.engine.CheckGrant(ctx, zoe.ID), imagegen.ErrInvalidRequest))
	ann, err := h.engine.Accounts().CreateUser(ctx, "ann", "")
	h.is.NoErr(err)
	_, err = h.db.Grant(ctx, imagegen.Grant{User: ann.ID, Credits: 5})
	h.is.NoErr(err)
	h.is.True(errors.Is(h.engine.SetSponsor(ctx, ann.ID, school.ID, imagegen.KeyLimits{}), imagegen.ErrInvalidRequest))
	h.is.NoErr(h.engine.SetSponsor(ctx, zoe.ID, "", imagegen.KeyLimits{}))
	h.is.NoErr(h.engine.CheckGrant(ctx, zoe.ID))
}

// Beside a ledger that takes no part in the store's transactions the sponsor pays too; limits cannot be kept there.
func TestMemberBesideAnOutsideLedger(t *testing.T) {
	h := start(t, yieldImages(1, nil), withOutsideLedger)
	ctx := t.Context()
	school, zoe := h.sponsored(imagegen.KeyLimits{})
	_, err := h.engine.As(zoe.ID).Generate(ctx, fox(imagegen.GenerateRequest{}))
	h.is.NoErr(err)
	b, err := h.engine.As(school.ID).Balance(ctx)
	h.is.NoErr(err)
	h.is.Equal(b.Credits, imagegen.Credits(19))
	h.is.NoErr(h.engine.SetSponsor(ctx, zoe.ID, school.ID, imagegen.KeyLimits{Credits: 100}))
	_, err = h.engine.As(zoe.ID).Generate(ctx, fox(imagegen.GenerateRequest{}))
	h.is.True(errors.Is(err, imagegen.ErrChargeRefused))
}
