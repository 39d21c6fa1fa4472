package tables_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv/kvtest"
)

// Unsettled generations are those that were charged and have not ended, and those about to be charged.
func TestUnsettled(t *testing.T) {
	is := is.New(t)
	d := open(t, kvtest.New())
	d.all(t)
	want := []imagegen.State{imagegen.StateCharging, imagegen.StateProcessing, imagegen.StateSettling,
		imagegen.StateQueued, imagegen.StateQueued, imagegen.StateQueued}
	var states []imagegen.State
	for after := imagegen.GenerationID(""); ; {
		rs, total, err := d.Unsettled(t.Context(), after, 2)
		is.NoErr(err)
		is.Equal(total, len(want))
		for _, r := range rs {
			is.True(r.ID > after)
			is.Equal(r.Prompt, "a fox") // the whole record
			states, after = append(states, r.State), r.ID
		}
		if len(rs) == 0 {
			break
		}
	}
	is.Equal(cmp.Diff(want, states), "")
}

// counting is a database that counts what is read of it.
type counting struct {
	kv.DB
	rows *int
}

func (c counting) View(ctx context.Context, f func(kv.Tx) error) error {
	return c.DB.View(ctx, func(tx kv.Tx) error { return f(countingTx{tx, c.rows}) })
}

type countingTx struct {
	kv.Tx
	rows *int
}

func (c countingTx) Get(b kv.Bucket, key []byte) []byte {
	*c.rows++
	return c.Tx.Get(b, key)
}

func (c countingTx) Ascend(b kv.Bucket, from []byte, f func(key, value []byte) bool) {
	c.Tx.Ascend(b, from, func(key, value []byte) bool { *c.rows++; return f(key, value) })
}

func (c countingTx) Descend(b kv.Bucket, before []byte, f func(key, value []byte) bool) {
	c.Tx.Descend(b, before, func(key, value []byte) bool { *c.rows++; return f(key, value) })
}

// A page costs what it shows, however much there is beside: also where few of many have a status.
func TestPagesReadWhatTheyShow(t *testing.T) {
	is := is.New(t)
	in := kvtest.New()
	d := open(t, in)
	for n := range 3000 {
		o := outcomeOf(recordNo(n, false))
		if n%1000 == 7 {
			o = imagegen.OutcomeChange{At: epoch}
		}
		d.finish(t, d.accept(t, n, false), o)
		is.NoErr(d.CreateUser(t.Context(), imagegen.User{ID: imagegen.UserID(fmt.Sprint("usr_", n)),
			Name: fmt.Sprintf("name %04d", n)}))
	}
	var rows int
	counted := open(t, counting{in, &rows})
	const each = 3 // for each one that is shown: in the index, or several, and itself
	for name, page := range map[string]func() (int, error){
		"all": func() (int, error) {
			rs, _, err := counted.Generations(t.Context(), "alice", imagegen.Query{Limit: 20})
			return len(rs), err
		},
		"of one status": func() (int, error) {
			rs, _, err := counted.Generations(t.Context(), "alice", imagegen.Query{Limit: 20,
				Status: imagegen.StatusFailed})
			return len(rs), err
		},
		"from the middle": func() (int, error) {
			rs, _, err := counted.Generations(t.Context(), "alice", imagegen.Query{Limit: 20,
				After: recordNo(1500, false).ID})
			return len(rs), err
		},
		"of the journal": func() (int, error) {
			es, err := counted.History(t.Context(), "alice", 4000, 20)
			return len(es), err
		},
		"of users": func() (int, error) {
			p, err := counted.UserPage(t.Context(), imagegen.UserQuery{Limit: 20, After: "name 1500"})
			return len(p.Users), err
		},
		"of what is unsettled": func() (int, error) {
			rs, _, err := counted.Unsettled(t.Context(), "", 20)
			return len(rs), err
		},
	} {
		rows = 0
		shown, err := page()
		is.NoErr(err)
		if most := each * (shown + 2); rows > most {
			t.Errorf("a page %s of %d reads %d rows; %d would do", name, shown, rows, most)
		}
	}
}

// If few of very many names match, a page ends before it has found enough.
func TestUserPageIsBounded(t *testing.T) {
	is := is.New(t)
	d := open(t, kvtest.New())
	const most = 100_000
	is.NoErr(d.kv.Update(t.Context(), func(tx kv.Tx) error {
		for n := range most + 10 {
			tx.Put("users.names", kv.Key(fmt.Sprintf("name %06d", n), "usr_0", byte(0), byte(6)), []byte{1})
		}
		return nil
	}))
	is.NoErr(d.CreateUser(t.Context(), imagegen.User{ID: "usr_z", Name: "the last", CreatedAt: time.Now()}))
	q := imagegen.UserQuery{Limit: 1, Contains: "LAST"}
	p, err := d.UserPage(t.Context(), q)
	is.NoErr(err)
	is.Equal(len(p.Users), 0)
	is.Equal(p.Next, fmt.Sprintf("name %06d", most-1))
	q.After = p.Next
	p, err = d.UserPage(t.Context(), q)
	is.NoErr(err)
	is.Equal(len(p.Users), 1)
	is.Equal(p.Next, "")
}
