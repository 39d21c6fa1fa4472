package tables_test

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv/kvtest"
)

// atMost counts the values that one transaction goes over, and keeps the largest number.
type atMost struct {
	kv.DB
	values, writes int
}

type goingOver struct {
	kv.Tx
	values int
}

func (c *goingOver) Ascend(b kv.Bucket, from []byte, f func(key, value []byte) bool) {
	c.Tx.Ascend(b, from, func(key, value []byte) bool { c.values++; return f(key, value) })
}

func (m *atMost) View(ctx context.Context, f func(kv.Tx) error) error {
	return m.DB.View(ctx, m.count(f))
}

func (m *atMost) Update(ctx context.Context, f func(kv.Tx) error) error {
	m.writes++
	return m.DB.Update(ctx, m.count(f))
}

func (m *atMost) count(f func(kv.Tx) error) func(kv.Tx) error {
	return func(tx kv.Tx) error {
		c := &goingOver{Tx: tx}
		err := f(c)
		m.values = max(m.values, c.values)
		return err
	}
}

// However many sign-ins there are, the transactions that end those past their age are short, and only those write that
// end some.
func TestManySignInsOverTime(t *testing.T) {
	is, ctx := is.New(t), t.Context()
	m := &atMost{DB: kvtest.New()}
	d := open(t, m)
	const all, old = 3500, 3000
	now := time.Now()
	of := func(n int) (hash [32]byte) { binary.BigEndian.PutUint32(hash[:], uint32(n)); return hash }
	for n := range all {
		at := now
		if n < old {
			at = now.Add(-2 * time.Hour)
		}
		is.NoErr(d.CreateSignIn(ctx, account.SignIn{Hash: of(n), User: "alice", CreatedAt: now, SeenAt: at}))
	}
	m.values, m.writes = 0, 0
	is.NoErr(d.EndSignInsAged(ctx, time.Hour, 24*time.Hour))
	is.Equal(m.writes, 3)
	is.True(m.values <= 1001)
	left, err := d.SignIns(ctx, "alice")
	is.NoErr(err)
	is.Equal(len(left), all-old)
	m.writes = 0
	is.NoErr(d.EndSignInsAged(ctx, time.Hour, 24*time.Hour))
	is.Equal(m.writes, 0)
}
