package witness_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

// A shelf keeps what the images and the spool of a storage can do.
func TestShelfForwards(t *testing.T) {
	storagetest.Forwards(t, new(witness.Shelf), new(storage.DB))
}

// Answers are compared, and each lie is found out.
func TestCompare(t *testing.T) {
	is := is.New(t)
	e := imagegentest.Start(t)
	grant := witness.Grant{User: imagegentest.Alice, Ref: "pay-1", Credits: 5, Answer: witness.Succeeded}
	_, err := e.DB.Grant(t.Context(), imagegen.Grant{User: grant.User, Ref: grant.Ref, Credits: grant.Credits})
	is.NoErr(err)
	made, err := e.As(imagegentest.Alice).Generate(t.Context(), imagegen.GenerateRequest{Model: imagegentest.Model,
		Prompt: "a fox"})
	is.NoErr(err)
	left := witness.Service{Store: e.DB, Books: e.DB, Images: e.DB, Users: []imagegen.UserID{imagegentest.Alice},
		Joint: true, Settled: true}
	image := made.Images[0].ID
	for name, c := range map[string]struct {
		tell  func(o *witness.Order, g *witness.Grant)
		found bool
	}{
		"the truth":      {func(*witness.Order, *witness.Grant) {}, false},
		"another order":  {func(o *witness.Order, _ *witness.Grant) { o.ID = "gen_2" }, true},
		"no answer came": {func(o *witness.Order, _ *witness.Grant) { o.ID, o.End = "", nil }, true},
		"an answer was lost": {func(o *witness.Order, _ *witness.Grant) { o.ID, o.End, o.Doubt = "", nil, true },
			false},
		"it is gone":              {func(o *witness.Order, _ *witness.Grant) { o.User = imagegentest.Bob }, true},
		"it failed":               {func(o *witness.Order, _ *witness.Grant) { o.Failed = true }, true},
		"another end":             {func(o *witness.Order, _ *witness.Grant) { o.End.Credits++ }, true},
		"other bytes":             {func(o *witness.Order, _ *witness.Grant) { o.Sums[image] = [32]byte{} }, true},
		"erased":                  {func(o *witness.Order, _ *witness.Grant) { o.Erasure = witness.Erased }, true},
		"an erasure in doubt":     {func(o *witness.Order, _ *witness.Grant) { o.Erasure = witness.Erasing }, false},
		"a grant of more credits": {func(_ *witness.Order, g *witness.Grant) { g.Credits++ }, true},
		"a grant that is gone":    {func(_ *witness.Order, g *witness.Grant) { g.Ref = "pay-2" }, true},
		"a grant that is refused": {func(_ *witness.Order, g *witness.Grant) { g.Answer = witness.Refused }, true},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			fact, wrong := counter()
			o, g := &witness.Order{User: imagegentest.Alice, Prompt: "a fox"}, grant
			o.Hear(witness.KindOf(false, nil), made.Generation, fact)
			o.HearImage(image, imageSum(t, e, image), fact)
			is.Equal(*wrong, 0)
			c.tell(o, &g)
			left.Compare(t.Context(), slices.Values([]*witness.Order{o}), []witness.Grant{g}, fact)
			is.Equal(*wrong > 0, c.found)
		})
	}
}

// The answer to one caller contradicts no answer to another.
func TestHear(t *testing.T) {
	is := is.New(t)
	fact, wrong := counter()
	o := &witness.Order{}
	o.Hear(witness.Accepted, imagegen.Generation{ID: "gen_1"}, fact)
	is.Equal(*wrong, 0)
	o.Hear(witness.Accepted, imagegen.Generation{ID: "gen_2"}, fact)
	is.Equal(*wrong, 1) // another identifier
	o.HearImage("image_1", [32]byte{1}, fact)
	o.HearImage("image_1", [32]byte{2}, fact)
	is.Equal(*wrong, 2) // other bytes
}

// What a ledger says of a member is compared with the journal of its sponsor, and that with the member's limit.
func TestMembers(t *testing.T) {
	is := is.New(t)
	db := memory.New(nil)
	members := []imagegen.UserID{"carol", "dora"}
	for _, u := range append(members, imagegentest.Alice) {
		is.NoErr(db.CreateUser(t.Context(), imagegen.User{ID: u, Name: string(u)}))
	}
	_, err := db.Grant(t.Context(), imagegen.Grant{User: imagegentest.Alice, Credits: 9})
	is.NoErr(err)
	for id, used := range map[imagegen.ChargeID]imagegen.Credits{"gen_1": 1, "gen_2": 2} {
		is.NoErr(db.Charge(t.Context(), imagegen.Charge{ID: id, User: imagegentest.Alice, Credits: 3, Member: "carol"}))
		is.NoErr(db.Settle(t.Context(), id, used))
	}
	entries, err := db.History(t.Context(), imagegentest.Alice, 0, 10)
	is.NoErr(err)
	fact, wrong := counter()
	witness.ReadJournal(entries, fact).Members(t.Context(), db, imagegentest.Alice, members, fact)
	is.Equal(*wrong, 0)
	for n := range entries {
		if entries[n].Member == "carol" {
			entries[n].Member = "dora"
		}
	}
	witness.ReadJournal(entries, fact).Members(t.Context(), db, imagegentest.Alice, members, fact)
	is.Equal(*wrong, 4) // of each member, for limits and for bills

	left := witness.Service{Store: db, Books: db, Images: db, Users: []imagegen.UserID{imagegentest.Alice}}
	for limit, finds := range map[imagegen.Credits]bool{0: false, 6: false, 3: true} {
		is.NoErr(db.SetSponsor(t.Context(), "carol", imagegentest.Alice, imagegen.KeyLimits{Credits: limit}))
		found := false
		left.Compare(t.Context(), slices.Values([]*witness.Order{}), nil, func(ok bool, format string, _ ...any) {
			found = found || !ok && strings.Contains(format, "has used")
		})
		is.Equal(found, finds)
	}
}

func counter() (witness.Fact, *int) {
	wrong := new(int)
	return func(ok bool, _ string, _ ...any) {
		if !ok {
			*wrong++
		}
	}, wrong
}

func imageSum(t *testing.T, e imagegentest.Running, id imagegen.ImageID) [32]byte {
	t.Helper()
	f, err := e.OpenImage(context.Background(), id)
	sum, err := witness.Sum(f, err)
	is.New(t).NoErr(err)
	return sum
}
