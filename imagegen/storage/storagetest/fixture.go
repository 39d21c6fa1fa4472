package storagetest

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// generationNo is the n-th of a row of rising identifiers.
func generationNo(n int) imagegen.GenerationID {
	return imagegen.GenerationID(fmt.Sprintf("gen_%026d", n))
}

// recordNo is a record in StateCharging with something in every field but KeyID, since there is no such key. It is
// alice's.
func recordNo(n int, change ...func(*imagegen.Record)) imagegen.Record {
	r := imagegen.Record{
		Intent: imagegen.Intent{
			ID: generationNo(n), User: alice, Model: "fake-1", Prompt: "a fox, ein Füchslein, 狐", N: 3,
			Size: imagegen.Size{Width: 1024, Height: 768}, Quality: imagegen.QualityHigh, Effort: imagegen.QualityLow,
			Ratio: "4:3", Tier: imagegen.Tier1K, Price: 2,
			Options: imagegen.Options{Format: imagegen.FormatJPEG, Compression: new(0),
				Background: imagegen.BackgroundOpaque, Seed: new(int64(1) << 40)},
			References: []imagegen.ReferenceFile{
				{ID: "ref_1", MediaType: "image/png", Size: 70, Width: 1, Height: 2, SHA256: [32]byte{1, 2}},
				{ID: "ref_2", MediaType: "image/webp", Size: 1 << 40, Width: 8192, Height: 16, SHA256: [32]byte{31: 9},
					Image: "img_1", Orientation: 8},
				{ID: "ref_3", Mask: true, MediaType: "image/png", Size: 4, Width: 1, Height: 2, SHA256: [32]byte{3}},
				{ID: "ref_4", CopyOf: "ref_2", Orientation: 1, MediaType: "image/png", Size: 9, Width: 8192, Height: 16,
					SHA256: [32]byte{4}},
			},
			Fingerprint: [32]byte{5, 4}, CreatedAt: epoch.Add(time.Duration(n) * time.Second),
		},
		Progress: imagegen.Progress{State: imagegen.StateCharging},
	}
	for _, c := range change {
		c(&r)
	}
	return r
}

func async(r *imagegen.Record) { r.Async = true }

// synchronous work is charged and under way in one step, as its first attempt.
func synchronous(r *imagegen.Record) { r.Attempt = 1 }

func of(u imagegen.UserID) func(*imagegen.Record) {
	return func(r *imagegen.Record) { r.User = u }
}

func ofModel(m string) func(*imagegen.Record) {
	return func(r *imagegen.Record) { r.Model = m }
}

func withKey(k string) func(*imagegen.Record) {
	return func(r *imagegen.Record) { r.IdempotencyKey = k }
}

const imageBytes = "bytes of an image"

// imagesOf are n images of the record's present attempt.
func imagesOf(r imagegen.Record, n int) imagegen.OutcomeChange {
	o := imagegen.OutcomeChange{At: r.CreatedAt.Add(time.Minute)}
	for i := range n {
		id := "image_" + strings.TrimPrefix(string(r.ID), "gen_") + fmt.Sprintf("%026d", i)
		o.Images = append(o.Images, imagegen.StoredImage{ID: imagegen.ImageID(id), Attempt: r.Attempt,
			MediaType: "image/png", Width: 1024, Height: 768, Size: int64(len(imageBytes)),
			SHA256: sha256.Sum256([]byte(imageBytes)), CreatedAt: o.At.Add(-time.Second),
			Provenance: imagegen.ProvenanceKept})
	}
	return o
}

func refused(r imagegen.Record) imagegen.OutcomeChange {
	return imagegen.OutcomeChange{At: r.CreatedAt.Add(time.Minute),
		Failure: &imagegen.Failure{Class: imagegen.ClassRefused, Detail: "policy"}}
}

// steps lead from StateCharging to each state, for asynchronous work.
var steps = map[imagegen.State][]func(imagegen.Record) imagegen.Change{
	imagegen.StateCharging:   {},
	imagegen.StateQueued:     {accept},
	imagegen.StateProcessing: {accept, claim},
	imagegen.StateSettling:   {accept, claim, threeImages},
	imagegen.StateSucceeded:  {accept, claim, threeImages, closed},
	imagegen.StateFailed:     {accept, claim, noImage, closed},
	imagegen.StateErasing:    {accept, claim, threeImages, closed, erase},
	imagegen.StateErased:     {accept, claim, threeImages, closed, erase, purge},
}

func accept(imagegen.Record) imagegen.Change   { return imagegen.AcceptChange{} }
func abandon(imagegen.Record) imagegen.Change  { return imagegen.AbandonChange{} }
func claim(imagegen.Record) imagegen.Change    { return imagegen.ClaimChange{} }
func recovery(imagegen.Record) imagegen.Change { return imagegen.RecoverChange{} }
func saveJob(imagegen.Record) imagegen.Change {
	return imagegen.SaveJobChange{Job: []byte("job 7"), Upstreams: []string{"upstream 7"}}
}
func release(imagegen.Record) imagegen.Change {
	return imagegen.ReleaseChange{Delay: time.Second, Failed: true}
}
func requeue(imagegen.Record) imagegen.Change { return imagegen.ReleaseChange{} }
func show(r imagegen.Record) imagegen.Change {
	return imagegen.ShowChange{Images: imagesOf(r, 2).Images}
}
func cancelled(r imagegen.Record) imagegen.Change {
	return imagegen.OutcomeChange{Cancelled: true, At: r.CreatedAt.Add(time.Minute),
		Failure: &imagegen.Failure{Class: imagegen.ClassCancelled, Detail: "cancelled"}}
}
func threeImages(r imagegen.Record) imagegen.Change { return imagesOf(r, 3) }
func noImage(r imagegen.Record) imagegen.Change     { return refused(r) }
func closed(imagegen.Record) imagegen.Change {
	return imagegen.CloseChange{Balance: &imagegen.Balance{Credits: 7, AccountType: "PRO",
		NextExpiration: &imagegen.Expiration{Credits: 3, At: epoch}}}
}
func unread(imagegen.Record) imagegen.Change    { return imagegen.DeliveryChange{Undelivered: true} }
func favourite(imagegen.Record) imagegen.Change { return imagegen.FavouriteChange{Favourite: true} }
func erase(imagegen.Record) imagegen.Change     { return imagegen.EraseChange{} }
func purge(imagegen.Record) imagegen.Change     { return imagegen.PurgeChange{} }
func forget(imagegen.Record) imagegen.Change    { return imagegen.ForgetChange{} }

// imagesAgo ends work with images, so long ago.
func imagesAgo(d time.Duration) func(imagegen.Record) imagegen.Change {
	return func(r imagegen.Record) imagegen.Change {
		o := imagesOf(r, 3)
		o.At = time.Now().UTC().Truncate(time.Millisecond).Add(-d)
		return o
	}
}

// endedAgo brings record n to StateSucceeded, so long ago.
func (s *store) endedAgo(n int, d time.Duration, change ...func(*imagegen.Record)) imagegen.Record {
	s.t.Helper()
	r := s.bring(n, imagegen.StateProcessing, change...)
	r = s.update(r, imagesAgo(d)(r))
	return s.update(r, closed(r))
}

// bring creates record n, asynchronous, and brings it to a state.
func (s *store) bring(n int, to imagegen.State, change ...func(*imagegen.Record)) imagegen.Record {
	s.t.Helper()
	r := s.create(n, append(change, async)...)
	for _, step := range steps[to] {
		r = s.update(r, step(r))
	}
	s.is.Equal(r.State, to)
	return r
}
