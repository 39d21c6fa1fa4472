package postgres

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// Trips tells how many round trips the transactions that have ended took, and how many there were.
func (db *DB) Trips() (trips, transactions int64) { return db.trips.Load(), db.commits.Load() }

// runAll runs calls as one batch, and returns what each was answered.
func (db *DB) runAll(batch ...*call) (errs []error) {
	for _, c := range batch {
		c.ctx, c.lane, c.done = context.Background(), db.committer.lanes[0], make(chan struct{})
	}
	db.committer.runBatch(batch)
	for _, c := range batch {
		<-c.done
		errs = append(errs, c.err)
	}
	return errs
}

// SettleAtOnce settles a charge to one amount after the other in one batch.
func (db *DB) SettleAtOnce(id imagegen.ChargeID, amounts ...imagegen.Credits) (errs []error) {
	var batch []*call
	for _, used := range amounts {
		batch = append(batch, &call{need: need{charges: []imagegen.ChargeID{id}},
			run: func(s *session) error { return db.books.At(s, s.at).Settle(id, used) }})
	}
	return db.runAll(batch...)
}

// RefundBeside settles a charge to nothing in a transaction that has to lock another user's account, too.
func (db *DB) RefundBeside(id imagegen.ChargeID, u imagegen.UserID) error {
	c := &call{need: need{users: []imagegen.UserID{u}, charges: []imagegen.ChargeID{id}},
		run: func(s *session) error { return db.books.At(s, s.at).Settle(id, 0) }}
	return db.runAll(c)[0]
}

// SpoilAtOnce charges one after the other in one batch, in which the last one fails after it has written.
func (db *DB) SpoilAtOnce(charges ...imagegen.Charge) (errs []error) {
	var batch []*call
	for n, c := range charges {
		batch = append(batch, &call{need: need{users: []imagegen.UserID{c.User}, charges: []imagegen.ChargeID{c.ID}},
			run: func(s *session) error {
				err := db.books.At(s, s.at).Charge(c, ledger.Asker{})
				if err == nil && n == len(charges)-1 {
					err = imagegen.ErrNotFound
				}
				return err
			}})
	}
	return db.runAll(batch...)
}

// Alone is how many calls wait alone.
func (db *DB) Alone() int { return len(db.taken.connections) }

// Retried is retried.
var Retried = retried

// Settings are what holds in each transaction that writes.
var Settings = begin + "; " + new(DB).settings(0)

// SettingsAt are Settings where Config.Now gives the time.
var SettingsAt = begin + "; " + (&DB{clock: databaseClock{given: time.Now}}).settings(0)

// MigrateWith is what Migrate is in a program with one more migration, which asks for a program that knows so many.
// Without change it is what Open is there without Config.Migrate.
func MigrateWith(ctx context.Context, pool *pgxpool.Pool, name, sql string, program int, change bool) error {
	all, err := readMigrations()
	if err != nil {
		return err
	}
	n := len(all) + 1
	all = append(all, Migration{Number: n, program: program,
		SQL: fmt.Sprintf("%s;\nupdate imagegend.schema set version = %d, program = %d", sql, n, program)})
	in, err := newSchema(name)
	if err != nil {
		return err
	}
	return acquired(ctx, pool, func(c *pgxpool.Conn) error {
		return upToDate(ctx, c, in, all, change)
	})
}

// PageQuery is pageQuery.
var PageQuery = pageQuery

// CountAudit is an audit that tells how many round trips it took.
func (db *DB) CountAudit(ctx context.Context) (imagegen.AuditReport, int, error) {
	a, err := db.auditRows(ctx)
	return a.report, a.trips, err
}

// CreateBesideAbandon creates a record, abandons an intent and creates another record, in one batch.
func (db *DB) CreateBesideAbandon(first imagegen.Record, abandoned imagegen.Fence,
	second imagegen.Record) (errs []error) {
	create := func(r imagegen.Record) *call {
		return &call{need: createNeeds(r), run: func(s *session) error {
			if err := rules.Asked(asked{s}, r, s.at); err != nil {
				return err
			}
			_, err := s.replace(tables.Row{}, tables.Row{Record: r}, time.Minute)
			return err
		}}
	}
	abandon := &call{need: need{rows: []imagegen.GenerationID{abandoned.ID}},
		run: func(s *session) error {
			_, err := tables.Update(context.Background(), asked{s}, abandoned, imagegen.AbandonChange{})
			return err
		}}
	batch := []*call{create(first), abandon, create(second)}
	return db.runAll(batch...)
}

// ChargeAtOnce charges one after the other in one batch.
func (db *DB) ChargeAtOnce(charges ...imagegen.Charge) (errs []error) {
	var batch []*call
	for _, c := range charges {
		batch = append(batch, &call{need: need{users: []imagegen.UserID{c.User}, charges: []imagegen.ChargeID{c.ID},
			billed: map[keyOf]bool{{c.User, c.Key}: true}},
			run: func(s *session) error {
				return db.books.At(s, s.at).Charge(c, ledger.Asker{})
			}})
	}
	return db.runAll(batch...)
}

// ExpireAll writes off what has expired, as upkeep does.
func (db *DB) ExpireAll(ctx context.Context) error { return db.books.ExpireAll(ctx) }

// NotBegun is notBegun.
var NotBegun = notBegun

// Undone is undone.
var Undone = undone

// SetPatience shortens the waits for the database.
func (db *DB) SetPatience(p time.Duration) { db.patience = p }

// MostConnections is how many connections there may be at once.
func (db *DB) MostConnections() int32 { return db.pool.Stat().MaxConns() }

// RefundUnforeseen settles a charge to nothing in a transaction that reads the charge before it locks the account.
func (db *DB) RefundUnforeseen(id imagegen.ChargeID) error {
	c := &call{run: func(s *session) error { return db.books.At(s, s.at).Settle(id, 0) }}
	return db.runAll(c)[0]
}

// Left lists what transactions have left behind in the idle sessions of the pool: settings (but the one that PgBouncer
// hands on itself), locks, channels, cursors, temporary tables, and prepared statements, unless the pool is to keep
// them.
func (db *DB) Left(ctx context.Context) (left []string, err error) {
	kept := db.pool.Config().ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement
	for _, c := range db.pool.AcquireAllIdle(ctx) {
		defer c.Release()
		rows, err := c.Query(ctx,
			`select 'setting ' || name || ' = ' || setting from pg_settings where source = 'session' and name <> 'application_name'
 union all select 'lock ' || objid from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()
 union all select 'prepared ' || name from pg_prepared_statements where not $1
 union all select 'channel ' || c from pg_listening_channels() c
 union all select 'cursor ' || name from pg_cursors where name <> ''
 union all select 'table ' || relname from pg_class where relnamespace = pg_my_temp_schema()`, kept)
		if err != nil {
			return left, err
		}
		var what string
		if err := each(rows, func() error { left = append(left, what); return nil }, &what); err != nil {
			return left, err
		}
	}
	return left, nil
}

// Shelves are the buckets that lie in columns.
func Shelves() (all []string) {
	for b := range shelves {
		all = append(all, string(b))
	}
	return all
}

// WriteFilled writes a value of a bucket in which no field is zero, and reads it back.
func (db *DB) WriteFilled(ctx context.Context, bucket string) (written, read []byte, err error) {
	b := kv.Bucket(bucket)
	var key []byte
	if err := db.update(ctx, func(s *session) error {
		key, written = shelves[b].(interface{ filled() (key, stored []byte) }).filled()
		s.kept.Put(b, key, written)
		return nil
	}); err != nil {
		return nil, nil, err
	}
	return written, read, db.view(ctx, func(s *session) error { read = s.kept.Get(b, key); return nil })
}

func (s *shelfOf[V]) filled() (key, stored []byte) {
	var v V
	n := int64(0)
	if f, ok := any(&v).(*setting); ok {
		f.name, f.value = "name", "abcd"
	} else {
		fill(reflect.ValueOf(&v).Elem(), &n)
	}
	return s.key(&v), s.encode(&v)
}

// fill gives each field another value.
func fill(v reflect.Value, n *int64) {
	*n++
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.UnixMicro(1e15 + *n).UTC()))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fill(v.Field(i), n)
			} else {
				v.Addr().Interface().(*namedEnd).name = "name"
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(*n)
	default:
		v.SetUint(uint64(*n) % 256)
	}
}
