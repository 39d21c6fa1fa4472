package engine_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// A name that is taken is the caller's to change, and no user comes with the refusal.
func TestNameThatIsTaken(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	_, err := h.engine.Accounts().CreateUser(t.Context(), "carol", "")
	h.is.NoErr(err)
	u, err := h.engine.Accounts().CreateUser(t.Context(), "carol", "PRO")
	h.is.True(isCode(err, imagegen.ErrInvalidRequest) && errors.Is(err, imagegen.ErrExists))
	h.is.Equal(u, imagegen.User{})
}

// A name with the form of an identifier would stand for somebody else's things, so nobody gets one.
func TestNameLikeAnIdentifier(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	ids, now := imagegen.NewIDs(), time.Now()
	g := ids.Generation(now)
	image := imagegen.NewImageID(g)
	for _, name := range []string{string(ids.User(now)), string(ids.Key(now)), string(ids.OperatorKey(now)), string(g),
		string(image), string(image.Thumbnail()), string(ids.Reference(now))} {
		_, err := h.engine.Accounts().CreateUser(t.Context(), name, "")
		h.is.True(isCode(err, imagegen.ErrInvalidRequest))
	}
	for _, name := range []string{"usr_1", "usr_" + string(g), "key_", "image_" + string(g)} {
		_, err := h.engine.Accounts().CreateUser(t.Context(), name, "")
		h.is.NoErr(err)
	}
}

// Where something is found by its target, an identifier stands for itself, whatever users are called.
func TestTarget(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	u, err := h.engine.Accounts().CreateUser(t.Context(), "carol", "")
	h.is.NoErr(err)
	h.is.NoErr(h.db.CreateUser(t.Context(), imagegen.User{ID: "4711", Name: "dora",
		AccountType: imagegen.DefaultAccountType})) // an embedder's
	// as an older version took them
	for _, name := range []string{"4711", string(u.ID), "gen_01JZZZZZZZZZZZZZZZZZZZZZZZ"} {
		h.is.NoErr(h.db.CreateUser(t.Context(), imagegen.User{ID: "usr_" + imagegen.UserID(name), Name: name,
			AccountType: imagegen.DefaultAccountType}))
		h.is.Equal(h.engine.Accounts().TrailTargets(t.Context(), name), []string{name})
	}
	h.is.Equal(h.engine.Accounts().TrailTargets(t.Context(), "carol"), []string{"carol", string(u.ID)})
	h.is.Equal(h.engine.Accounts().TrailTargets(t.Context(), "nobody"), []string{"nobody"})
	h.is.Equal(h.engine.Accounts().TrailTargets(t.Context(), ""), nil)
}

// An expiry that cannot be kept is refused; the last that can be is kept to the nanosecond.
func TestKeyThatExpiresLate(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	last := time.Unix(0, math.MaxInt64).UTC()
	raw, _, err := h.engine.Accounts().MintKey(t.Context(), alice, "k", last)
	h.is.NoErr(err)
	keys, err := h.engine.Accounts().Keys(t.Context(), alice)
	h.is.NoErr(err)
	h.is.True(keys[0].ExpiresAt.Equal(last))
	_, err = h.engine.Authenticate(t.Context(), raw.Reveal())
	h.is.NoErr(err)
	for _, late := range []time.Time{last.Add(1), time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC),
		last.Add(math.MaxInt64).Add(2)} {
		_, _, err := h.engine.Accounts().MintKey(t.Context(), alice, "k", late)
		h.is.True(isCode(err, imagegen.ErrInvalidRequest))
	}
}

// The record names the key that asked; who asks in process or through the console has none.
func TestRecordNamesItsKey(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	raw, k, err := h.engine.Accounts().MintKey(t.Context(), alice, "laptop", time.Time{})
	h.is.NoErr(err)
	asked, err := h.engine.Authenticate(t.Context(), raw.Reveal())
	h.is.NoErr(err)
	h.is.Equal(asked.KeyID(), k.ID)
	for session, want := range map[*engine.Session]imagegen.KeyID{asked: k.ID, h.engine.As(alice): ""} {
		for _, async := range []bool{false, true} {
			made, err := session.Generate(t.Context(), fox(imagegen.GenerateRequest{Async: async}))
			h.is.NoErr(err)
			r, err := h.engine.Record(t.Context(), made.ID)
			h.is.NoErr(err)
			h.is.Equal(r.KeyID, want)
		}
	}
}

// A slash stands in the names of members only, so that nobody's name says that somebody else pays for them.
func TestNamesOfMembers(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	ctx, accounts := t.Context(), h.engine.Accounts()
	_, err := accounts.CreateUser(ctx, "school/zoe", "")
	h.is.True(isCode(err, imagegen.ErrInvalidRequest))
	school, err := accounts.CreateUser(ctx, "school", "EDU")
	h.is.NoErr(err)
	limits := imagegen.KeyLimits{Daily: 20}
	zoe, err := accounts.CreateMember(ctx, school.ID, "zoe", limits)
	h.is.NoErr(err)
	stored, err := accounts.UserByName(ctx, "school/zoe")
	h.is.NoErr(err)
	h.is.Equal(stored, zoe)
	h.is.Equal(zoe.Sponsor, school.ID)
	h.is.Equal(zoe.Limits, limits)

	_, err = accounts.CreateMember(ctx, school.ID, "zoe", limits)
	h.is.True(errors.Is(err, imagegen.ErrExists))
	for _, name := range []string{"", " ", "a/b", "/", "x\x07", strings.Repeat("x", 250)} {
		_, err = accounts.CreateMember(ctx, school.ID, name, limits)
		h.is.True(isCode(err, imagegen.ErrInvalidRequest))
	}
	_, err = accounts.CreateMember(ctx, school.ID, "ann", imagegen.KeyLimits{Daily: -1})
	h.is.True(isCode(err, imagegen.ErrInvalidRequest))
	_, err = accounts.CreateMember(ctx, zoe.ID, "ann", limits) // one level
	h.is.True(isCode(err, imagegen.ErrInvalidRequest))
	_, err = accounts.CreateMember(ctx, "usr_nobody", "ann", limits)
	h.is.True(isCode(err, imagegen.ErrNotFound))
	all, err := accounts.Users(ctx)
	h.is.NoErr(err)
	h.is.Equal(len(all), 2) // a refusal creates nobody
}
