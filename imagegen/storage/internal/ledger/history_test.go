package ledger_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

func TestHistory(t *testing.T) {
	f := open(t)
	f.grant(imagegen.Grant{User: "alice", Credits: 10, Ref: "r"})
	f.grant(imagegen.Grant{User: "bob", Credits: 3})
	f.charge("c", "alice", 6)
	f.settle("c", 2)
	all, err := f.History(t.Context(), "alice", 0, 10)
	f.is.NoErr(err)
	want := []imagegen.Entry{
		{Seq: 3, Kind: imagegen.EntrySettle, User: "alice", Charge: "c", Credits: 4, Used: 2, Balance: 8},
		{Seq: 2, Kind: imagegen.EntryCharge, User: "alice", Charge: "c", Credits: -6, Balance: 4},
		{Seq: 1, Kind: imagegen.EntryGrant, User: "alice", Ref: "r", Credits: 10, Balance: 10},
	}
	for i := range want {
		want[i].Time = all[i].Time
	}
	f.is.Equal(cmp.Diff(want, all), "")
	for _, page := range []struct {
		before uint64
		limit  int
		want   []imagegen.Entry
	}{{3, 1, all[1:2]}, {2, 10, all[2:]}, {1, 10, nil}, {^uint64(0), 2, all[:2]}, {0, 0, nil}, {0, -1, nil}} {
		got, err := f.History(t.Context(), "alice", page.before, page.limit)
		f.is.NoErr(err)
		f.is.Equal(cmp.Diff(page.want, got), "")
	}
}

// Identifiers that belong to no user have nothing, also where they look like the beginning of a key.
func TestInvalidUserHasNothing(t *testing.T) {
	f := open(t)
	expires := time.Unix(0, time.Now().Add(time.Hour).UnixNano()&^0xff) // its key ends in a zero byte
	f.grant(imagegen.Grant{User: "a", Credits: 10, Promo: true})
	f.grant(imagegen.Grant{User: "a", Credits: 10, Expires: expires})
	begun := binary.BigEndian.AppendUint64([]byte("a\x00"), kv.TimeKey(expires))
	for _, u := range []imagegen.UserID{"", "\x00", "a\x00", "a\x00\x00", "a\x00\x00\x00\x00\x00\x00\x00",
		"a\x002\xff\xff\xff\xff\xff\xff\xff\xff", imagegen.UserID(begun[:len(begun)-1])} {
		f.is.Equal(f.credits(u), imagegen.Credits(0))
		f.is.Equal(len(f.lots(u)), 0)
		entries, err := f.History(t.Context(), u, 0, 10)
		f.is.NoErr(err)
		f.is.Equal(len(entries), 0)
	}
}
