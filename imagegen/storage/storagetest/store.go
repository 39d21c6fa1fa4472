// Package storagetest has the contracts of the storage interfaces of package imagegen as
// tests. An implementation joins them in a test of its own:
//
//	func TestStore(t *testing.T) {
//		storagetest.Store(t, func(t *testing.T) imagegen.Store {
//			db := open(t)
//			t.Cleanup(func() { db.Close() })
//			return db
//		})
//	}
//
// Every subtest opens a new storage and expects it to be empty. If it has the method
// Audit of [imagegen.Inspector], it is audited after the subtest. Run the suites with
// -race.
package storagetest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// Store tests an [imagegen.Store]. Its subtests about leases, delays and waking run in bubbles of
// testing/synctest, and open is called inside: the store's clock must be time.Now.
func Store(t *testing.T, open func(t *testing.T) imagegen.Store) {
	run := func(name string, test func(s *store)) {
		t.Run(name, func(t *testing.T) {
			promises.Expect(t, "Store/"+name)
			test(openStore(t, open))
		})
	}
	virtual := func(name string, test func(s *store)) {
		t.Run(name, func(t *testing.T) {
			promises.Expect(t, "Store/"+name)
			synctest.Test(t, func(t *testing.T) { test(openStore(t, open)) })
		})
	}
	run("Create", testCreate)
	run("CreateTwice", testCreateTwice)
	run("CreateRefuses", testCreateRefuses)
	run("CreateForKey", testCreateForKey)
	run("Reservation", testReservation)
	run("ReservationRace", testReservationRace)
	run("ReservationAbandoned", testReservationAbandoned)
	run("ReservationForgotten", testReservationForgotten)
	run("ReservationErased", testReservationErased)
	run("Isolation", testIsolation)
	t.Run("Transitions", func(t *testing.T) {
		promises.Expect(t, "Store/Transitions")
		testTransitions(t, open)
	})
	run("Shown", testShown)
	run("CancelRace", testCancelRace)
	run("Gone", testGone)
	run("Unknown", testUnknown)
	run("UpdateRace", testUpdateRace)
	run("Pages", testPages)
	run("PagesByStatus", testPagesByStatus)
	run("Favourites", testFavourites)
	run("OthersAreInvisible", testOthersAreInvisible)
	run("Ended", testEnded)
	run("EndedBehindOthers", testEndedBehindOthers)
	run("Forgettable", testForgettable)
	run("Undelivered", testUndelivered)
	run("ClaimInTurn", testClaimInTurn)
	run("ClaimBacklog", testClaimBacklog)
	run("ClaimRequeued", testClaimRequeued)
	run("ClaimFewest", testClaimFewest)
	run("ClaimByPayer", testClaimByPayer)
	run("ClaimMany", testClaimMany)
	run("ClaimComingBack", testClaimComingBack)
	run("ClaimPlaces", testClaimPlaces)
	run("ClaimAge", testClaimAge)
	run("ClaimRequeuedPlaces", testClaimRequeuedPlaces)
	run("ClaimRace", testClaimRace)
	virtual("ClaimDelayed", testClaimDelayed)
	virtual("ClaimManyDelayed", testClaimManyDelayed)
	virtual("Delays", testDelays)
	virtual("Queued", testQueued)
	virtual("Wake", testWake)
	virtual("Leases", testLeases)
	virtual("LeasesOfAllStates", testLeasesOfAllStates)
	virtual("RecoverInTurn", testRecoverInTurn)
	virtual("LeaseOutlastsUpdates", testLeaseOutlastsUpdates)
	virtual("RecoverRace", testRecoverRace)
	virtual("Extend", testExtend)
	virtual("ExtendLost", testExtendLost)
	virtual("ExtendOfAnother", testExtendOfAnother)
	run("Users", testUsers)
	run("UserNames", testUserNames)
	run("Sponsor", testSponsor)
	run("MemberType", testMemberType)
	run("CreateMember", testCreateMember)
	run("Keys", testKeys)
	run("KeyUse", testKeyUse)
	run("EndedContext", testEndedContext)
	run("OptionalMethods", func(s *store) { testOptionalMethods(s.t, s.Store) })
}

const alice, bob, carol = imagegen.UserID("alice"), imagegen.UserID("bob"), imagegen.UserID("carol")

// epoch is when the records of the tests are created; each a second after the one before.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)

const aMinute = time.Minute // the lease of a record, unless a test is about leases

// store is a Store under test.
type store struct {
	imagegen.Store
	t  *testing.T
	is *is.I
}

func openStore(t *testing.T, open func(*testing.T) imagegen.Store) *store {
	s := &store{t: t, is: is.New(t), Store: open(t)}
	t.Cleanup(func() { audit(t, s.Store) })
	return s
}

type auditor interface {
	Audit(context.Context) (imagegen.AuditReport, error)
}

// audit checks the books of a store that can.
func audit(t *testing.T, s any) {
	a, ok := s.(auditor)
	if !ok || t.Failed() {
		return
	}
	report, err := a.Audit(context.Background())
	if err != nil {
		t.Errorf("audit: %v", err)
	}
	for _, v := range report.Violations {
		t.Errorf("audit: %s: %s: %s", v.Rule, v.Subject, v.Detail)
	}
}

// create creates a record that recordNo makes.
func (s *store) create(n int, change ...func(*imagegen.Record)) imagegen.Record {
	s.t.Helper()
	r, err := s.Create(s.t.Context(), recordNo(n, change...), aMinute)
	s.is.NoErr(err)
	return r
}

// update applies a change to the record's attempt.
func (s *store) update(r imagegen.Record, c imagegen.Change) imagegen.Record {
	s.t.Helper()
	if r.State == imagegen.StateProcessing {
		s.putImages(r, c)
	}
	r, err := s.Update(s.t.Context(), r.Fence(), c)
	s.is.NoErr(err)
	return r
}

// putImages stores the bytes of the images that a change brings, where the store keeps images: an audit looks for them.
func (s *store) putImages(r imagegen.Record, c imagegen.Change) {
	s.t.Helper()
	var brought []imagegen.StoredImage
	switch c := c.(type) {
	case imagegen.OutcomeChange:
		brought = c.Images
	case imagegen.ShowChange:
		brought = c.Images
	}
	images, ok := s.Store.(imagegen.ImageStore)
	if !ok {
		return
	}
	for _, i := range brought {
		if slices.ContainsFunc(r.Images, func(shown imagegen.StoredImage) bool { return shown.ID == i.ID }) {
			continue
		}
		s.is.NoErr(images.PutImage(s.t.Context(), r.ImageKey(i), strings.NewReader(imageBytes)))
	}
}

// queue creates a record and brings it into the queue.
func (s *store) queue(n int, change ...func(*imagegen.Record)) imagegen.Record {
	s.t.Helper()
	return s.update(s.create(n, append(change, async)...), imagegen.AcceptChange{})
}

// claim claims up to n records.
func (s *store) claim(n int) []imagegen.Record {
	s.t.Helper()
	rs, _, err := s.Claim(s.t.Context(), imagegen.ClaimRequest{Most: n, Lease: aMinute})
	s.is.NoErr(err)
	return rs
}

// stands checks that the store has the record as it is.
func (s *store) stands(want imagegen.Record) {
	s.t.Helper()
	got, err := s.Generation(s.t.Context(), want.ID)
	s.is.NoErr(err)
	s.is.Equal(diff(want, got), "")
}

// diff compares values of any type; nil and empty slices are the same.
func diff(want, got any) string { return cmp.Diff(want, got, cmpopts.EquateEmpty()) }

func idsOf(rs []imagegen.Record) []imagegen.GenerationID {
	ids := make([]imagegen.GenerationID, len(rs))
	for i, r := range rs {
		ids[i] = r.ID
	}
	return ids
}
