package storagetest

import (
	"github.com/imagegend/imagegend/imagegen"
)

func joinedBy(key byte) func(*imagegen.Record) {
	return func(r *imagegen.Record) { r.JoinKey = [32]byte{key} }
}

func undelivered(r imagegen.Record) imagegen.Change {
	o := imagesOf(r, 3)
	o.Undelivered = true
	return o
}

// testUndelivered: an answer that nobody received is found by its user and its key, until it is received.
func testUndelivered(s *store) {
	end := func(n int, outcome func(imagegen.Record) imagegen.Change, change ...func(
		*imagegen.Record)) imagegen.Record {
		r := s.create(n, append(change, synchronous)...)
		for _, step := range []func(imagegen.Record) imagegen.Change{accept, outcome, closed} {
			r = s.update(r, step(r))
		}
		return r
	}
	first := end(1, undelivered, joinedBy(1))
	second := end(2, threeImages, joinedBy(1))
	s.finds(1, first.ID)
	second = s.update(second, imagegen.DeliveryChange{Undelivered: true})
	end(3, undelivered, joinedBy(2))
	end(4, undelivered, joinedBy(1), of(bob))
	end(5, noImage, joinedBy(1))
	s.finds(1, first.ID, second.ID)

	first = s.update(first, imagegen.DeliveryChange{})
	s.finds(1, second.ID)
	s.update(s.update(second, imagegen.EraseChange{}), imagegen.PurgeChange{})
	s.finds(1)
	s.finds(9)

	var newest []imagegen.GenerationID
	for n := range 101 { // the oldest, which nobody will ask for any more, hide none of the others
		newest = append(newest, end(10+n, undelivered, joinedBy(3)).ID)
	}
	s.finds(3, newest[1:]...)
}

// finds checks which of alice's records an equal call finds.
func (s *store) finds(key byte, want ...imagegen.GenerationID) {
	s.t.Helper()
	got, err := s.Undelivered(s.t.Context(), alice, [32]byte{key})
	s.is.NoErr(err)
	s.is.Equal(len(got), len(want))
	for i, r := range got {
		s.is.Equal(r.ID, want[i])
		s.stands(r)
	}
}
