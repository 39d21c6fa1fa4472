package postgres_test

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// The questions of a sweep of the object store: images of ended work by their keys, anything of work under way, and
// anything of generations that the database does not have: it may be empty by mistake, and the images another one's.
func TestNamed(t *testing.T) {
	is := is.New(t)
	ctx := t.Context()
	db := open(t, postgrestest.Start(t).Database(t))
	_, err := db.Grant(ctx, imagegen.Grant{User: "alice", Credits: 10})
	is.NoErr(err)
	r := record(1)
	r.References = []imagegen.ReferenceFile{{ID: "ref_1", MediaType: "image/png", Size: 1, Width: 1, Height: 1}}
	r, err = db.CreateCharged(ctx, r, time.Minute)
	is.NoErr(err)
	stored := imagegen.StoredImage{ID: imagegen.NewImageID(r.ID), Attempt: r.Attempt, MediaType: "image/png", Width: 1,
		Height: 1, Size: 1, CreatedAt: r.CreatedAt}
	image := r.ImageKey(stored)
	small, former, others := image, image, imagegen.ImageKey{Generation: "gen_unknown", Attempt: 1, Image: image.Image}
	small.Image, former.Attempt = image.Image.Thumbnail(), image.Attempt+1
	asked := []imagegen.ImageKey{image, small, former, others}

	named, err := db.NamedImages(ctx, asked)
	is.NoErr(err)
	is.Equal(named, []bool{true, true, true, true}) // of work under way anything may be named later
	references, err := db.NamedReferences(ctx, []imagegen.ReferenceID{"ref_1", "ref_2"})
	is.NoErr(err)
	is.Equal(references, []bool{true, false})

	_, err = db.FinishSettled(ctx, r.Fence(), imagegen.OutcomeChange{At: r.CreatedAt,
		Images: []imagegen.StoredImage{stored}})
	is.NoErr(err)
	named, err = db.NamedImages(ctx, asked)
	is.NoErr(err)
	is.Equal(named, []bool{true, true, false, true})
	references, err = db.NamedReferences(ctx, []imagegen.ReferenceID{"ref_1"})
	is.NoErr(err)
	is.Equal(references, []bool{false})
}

// An image that is left of an erased generation, as a thumbnail that was put just before a kill, has no owner.
func TestNothingIsNamedByWhatIsErased(t *testing.T) {
	is, ctx := is.New(t), t.Context()
	db := open(t, postgrestest.Start(t).Database(t))
	fund(t, db)
	r, err := db.CreateCharged(ctx, record(1), time.Minute)
	is.NoErr(err)
	left := []imagegen.ImageKey{{Generation: r.ID, Attempt: 1, Image: imagegen.NewImageID(r.ID).Thumbnail()}}
	_, err = db.FinishSettled(ctx, r.Fence(), failed())
	is.NoErr(err)
	_, err = db.Update(ctx, r.Fence(), imagegen.EraseChange{})
	is.NoErr(err)
	named, err := db.NamedImages(ctx, left)
	is.NoErr(err)
	is.Equal(named, []bool{true}) // its removal is under way
	_, err = db.Update(ctx, r.Fence(), imagegen.PurgeChange{})
	is.NoErr(err)
	named, err = db.NamedImages(ctx, left)
	is.NoErr(err)
	is.Equal(named, []bool{false})
}
