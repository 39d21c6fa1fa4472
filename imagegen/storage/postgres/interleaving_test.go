package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// outsider is a transaction of somebody else.
type outsider struct {
	t    *testing.T
	conn *pgx.Conn
}

// holding locks what a query reads until commit.
func holding(t *testing.T, s *postgrestest.Server, url, query string) outsider {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.Address(databaseOf(t, url)))
	is.New(t).NoErr(err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	o := outsider{t, conn}
	o.exec("begin; " + query)
	return o
}

func (o outsider) exec(sql string) {
	o.t.Helper()
	_, err := o.conn.Exec(context.Background(), sql, pgx.QueryExecModeSimpleProtocol)
	is.New(o.t).NoErr(err)
}

func (o outsider) commit() {
	o.t.Helper()
	o.exec("commit")
}

// awaited waits until so many transactions of this database wait for a lock.
func (o outsider) awaited(waiting int) {
	o.t.Helper()
	eventually(o.t, "transactions wait for a lock", func() bool {
		var n int
		o.exec("select pg_stat_clear_snapshot()") // which would not show who connects later
		err := o.conn.QueryRow(context.Background(),
			`select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`).
			Scan(&n)
		is.New(o.t).NoErr(err)
		return n >= waiting
	})
}

func queued(t *testing.T, db *postgres.DB, n int) imagegen.Record {
	t.Helper()
	r := record(n)
	r.Async, r.Attempt = true, 0
	r, err := db.CreateCharged(t.Context(), r, time.Minute)
	is.New(t).NoErr(err)
	is.New(t).Equal(r.State, imagegen.StateQueued)
	return r
}

func claim(t *testing.T, db *postgres.DB, most int) (ids []imagegen.GenerationID) {
	t.Helper()
	records, _, err := db.Claim(t.Context(), imagegen.ClaimRequest{Most: most, Lease: time.Minute})
	is.New(t).NoErr(err)
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	return ids
}

// Work that was picked while somebody was busy with its record is found by the next claim, whether or not the user has
// other work, or work of another model.
func TestPickedWhileItsRecordIsLocked(t *testing.T) {
	s := postgrestest.Start(t)
	for name, others := range map[string]int{"all of the user's work": 0, "one of several": 2} {
		t.Run(name, func(t *testing.T) {
			is, url := is.New(t), s.Database(t)
			db, elsewhere := open(t, url), open(t, url)
			fund(t, db)
			locked := queued(t, db, 1)
			var rest []imagegen.GenerationID
			for n := range others {
				rest = append(rest, queued(t, db, 2+n).ID)
			}
			busy := holding(t, s, url, `select from imagegend.generations where id = '`+string(locked.ID)+
				`' for update`)
			is.Equal(claim(t, db, 10), rest)
			is.Equal(len(claim(t, elsewhere, 10)), 0)
			busy.commit()
			is.Equal(claim(t, elsewhere, 10), []imagegen.GenerationID{locked.ID})
			is.Equal(len(claim(t, db, 10)), 0)
		})
	}
}

// A settlement that has read the charge before another one settled it decides anew: otherwise the credits would come
// back twice.
func TestChargeChangesBetweenReadAndLock(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	url := s.Database(t)
	db, elsewhere := open(t, url), open(t, url)
	fund(t, db)
	for _, id := range []imagegen.ChargeID{"c", "another"} { // so that the account alone does not tell
		is.NoErr(db.Charge(t.Context(), imagegen.Charge{ID: id, User: "alice", Credits: 5, N: 1}))
	}
	outside := holding(t, s, url, `select from imagegend.accounts where usr = 'alice' for update`)
	settled, late := make(chan error, 1), make(chan error, 1)
	go func() { settled <- elsewhere.Settle(context.Background(), "c", 5) }()
	outside.awaited(1)
	go func() { late <- db.RefundUnforeseen("c") }() // reads the charge, and then waits for the account
	outside.awaited(2)
	outside.commit()
	is.NoErr(<-settled)
	is.True(errors.Is(<-late, imagegen.ErrChargeConflict))
	b, err := db.Balance(t.Context(), "alice")
	is.NoErr(err)
	is.Equal(b.Credits, imagegen.Credits(990))
}

// What refuses charges returns when no charge that it has not refused is under way any more, on whichever node.
func TestRefusalAwaitsCharges(t *testing.T) {
	s := postgrestest.Start(t)
	at := time.Now()
	for name, act := range map[string]func(context.Context, *postgres.DB) error{
		"a disabled user":  func(ctx context.Context, db *postgres.DB) error { return db.DisableUser(ctx, "bob", at) },
		"a suspended user": func(ctx context.Context, db *postgres.DB) error { return db.SuspendUser(ctx, "bob", at) },
		"a suspended payer": func(ctx context.Context, db *postgres.DB) error {
			return db.SuspendUser(ctx, "alice", at)
		},
		"a member that goes": func(ctx context.Context, db *postgres.DB) error {
			return db.SetSponsor(ctx, "bob", "", imagegen.KeyLimits{})
		},
		"a revoked key": func(ctx context.Context, db *postgres.DB) error {
			_, err := db.RevokeKey(ctx, "key_1", at)
			return err
		},
		"a limited key": func(ctx context.Context, db *postgres.DB) error {
			_, err := db.SetKeyLimits(ctx, "key_1", imagegen.KeyLimits{Credits: 1})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			is, url, ctx := is.New(t), s.Database(t), t.Context()
			db, elsewhere := open(t, url), open(t, url)
			fund(t, db)
			for _, u := range []imagegen.UserID{"alice", "bob"} {
				is.NoErr(db.CreateUser(ctx, imagegen.User{ID: u, Name: string(u), CreatedAt: time.Now()}))
			}
			is.NoErr(db.SetSponsor(ctx, "bob", "alice", imagegen.KeyLimits{}))
			is.NoErr(db.CreateKey(ctx, imagegen.Key{ID: "key_1", User: "bob", CreatedAt: time.Now()}))
			outside := holding(t, s, url, `lock table imagegend.entries in share mode`)
			charged, refused := make(chan error, 1), make(chan error, 1)
			go func() {
				r := record(1)
				r.User, r.Payer, r.KeyID = "bob", "alice", "key_1"
				_, err := elsewhere.CreateCharged(context.Background(), r, time.Minute)
				charged <- err
			}()
			outside.awaited(1) // nothing refuses it, and it waits before it commits
			go func() { refused <- act(context.Background(), db) }()
			outside.awaited(2)
			outside.commit()
			is.NoErr(<-charged)
			is.NoErr(<-refused)
		})
	}
}

// Who waits for a generation has it with the images that it has by then.
func TestImagesOfARowThatIsWaitedFor(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	url := s.Database(t)
	db := openDamaged(t, url)
	r := record(1)
	r.IdempotencyKey = "key"
	r, err := db.Create(t.Context(), r, time.Minute)
	is.NoErr(err)
	outside := holding(t, s, url, `update imagegend.generations set image_count = 1;
insert into imagegend.images select id, 0, 'image_1', 1, 'image/png', 1, 1, 1, sha256(''), now(), null from imagegend.generations`)
	read := make(chan imagegen.Record)
	go func() {
		r, err := db.GenerationByIdempotencyKey(context.Background(), "alice", "key")
		if err != nil {
			t.Error(err)
		}
		read <- r
	}()
	outside.awaited(1)
	outside.commit()
	is.Equal(len((<-read).Images), 1)
}

// Every reader of rows returns an error when they break off, instead of taking those before for all.
func TestRowsBreakOff(t *testing.T) {
	s, is, ctx := postgrestest.Start(t), is.New(t), t.Context()
	url := s.Database(t)
	db := openDamaged(t, url)
	fund(t, db)
	queued(t, db, 1)
	r, err := db.CreateCharged(ctx, record(2), time.Minute)
	is.NoErr(err)
	_, err = db.FinishSettled(ctx, r.Fence(), failed())
	is.NoErr(err)
	is.NoErr(s.Exec(databaseOf(t, url), breakOff))
	today := time.Now().UTC().Truncate(24 * time.Hour)
	for name, read := range map[string]func() error{
		"generation":  func() error { _, err := db.Generation(ctx, r.ID); return err },
		"generations": func() error { _, _, err := db.Generations(ctx, "alice", imagegen.Query{}); return err },
		"ended":       func() error { _, err := db.Ended(ctx, -time.Hour, 10); return err },
		"forgettable": func() error { _, err := db.Forgettable(ctx, imagegen.StateFailed, -time.Hour, 10); return err },
		"unsettled":   func() error { _, _, err := db.Unsettled(ctx, "", 10); return err },
		"images": func() error {
			_, err := db.NamedImages(ctx, []imagegen.ImageKey{{Generation: r.ID, Attempt: 1,
				Image: imagegen.NewImageID(r.ID)}})
			return err
		},
		"references": func() error { _, err := db.NamedReferences(ctx, []imagegen.ReferenceID{"ref_1"}); return err },
		"claim": func() error {
			_, _, err := db.Claim(ctx, imagegen.ClaimRequest{Most: 10, Lease: time.Minute})
			return err
		},
		"balance":      func() error { _, err := db.Balance(ctx, "alice"); return err },
		"lots":         func() error { _, err := db.Lots(ctx, "alice"); return err },
		"history":      func() error { _, err := db.History(ctx, "alice", 0, 10); return err },
		"open charges": func() error { _, err := db.OpenCharges(ctx, "", 10); return err },
		"usage": func() error {
			_, err := db.Usage(ctx, "alice", imagegen.UsageQuery{From: today, To: today.AddDate(0, 0, 1)})
			return err
		},
		"everybody's usage": func() error {
			return db.EachUsage(ctx, today, today.AddDate(0, 0, 1), func(imagegen.UserID, imagegen.Usage) {})
		},
		"key": func() error { _, err := db.KeyUse(ctx, "alice", ""); return err },
		"audit": func() error {
			report, err := db.Audit(ctx)
			if err == nil && len(report.Violations) > 0 {
				err = errors.New("there are violations")
			}
			return err
		},
		"charge": func() error { return db.Charge(ctx, imagegen.Charge{ID: "other", User: "alice", Credits: 5, N: 1}) },
	} {
		if err := read(); err == nil {
			t.Errorf("%s: the rows broke off, and nobody says so", name)
		}
	}
}

// breakOff puts a view into the place of each table, of which no row can be read to its end.
const breakOff = `create function imagegend.broken(v anyelement) returns anyelement language plpgsql as 'begin raise exception ''the rows break off''; end';
do $$ declare t text; columns text; begin
 foreach t in array array['generations options', 'accounts hash', 'entries hash', 'usage charged', 'key_totals credits', 'lots moved'] loop
  select string_agg(case column_name when split_part(t, ' ', 2) then format('imagegend.broken(%1$I) as %1$I', column_name) else quote_ident(column_name) end, ', ' order by ordinal_position)
   into columns from information_schema.columns where table_schema = 'imagegend' and table_name = split_part(t, ' ', 1);
  t := split_part(t, ' ', 1);
  execute format('alter table imagegend.%I rename to %I', t, t || '_whole');
  execute format('create view imagegend.%I as select %s from imagegend.%I', t, columns, t || '_whole');
 end loop; end $$`
