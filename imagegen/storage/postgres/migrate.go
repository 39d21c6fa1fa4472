package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// migrations are the steps of the schema, numbered from 1 without gaps. The first line of each says how many of them a
// program must know to work on a database that has this one. A change comes in a release that adds, and in a later one
// that takes away, so that the programs of two releases can work on one database at the same time.
//
// A migration that was released never changes: databases that have it do not run it again.
//
//go:embed migrations/*.sql
var migrations embed.FS

var (
	// ErrNewerSchema: a later program has changed the schema in such a way that this one would not understand it.
	ErrNewerSchema = errors.New("postgres: the database was changed by a later version of the program")
	// ErrOlderSchema: migrations are missing, and nobody has asked for them, or the role may not run them.
	ErrOlderSchema = errors.New("postgres: the schema is behind")
)

// Migration is one step of a schema.
type Migration struct {
	Number  int    // from 1
	Name    string // such as 0001_begin
	SQL     string // statements for one transaction, which also note that it was done
	program int    // how many migrations a program must know to work beside it; from 1 to Number
}

// Migrations returns the steps of a schema ("": DefaultSchema), in order, for a tool that runs migrations: each once,
// in a transaction of its own or in one for all. What they lead to is what [Migrate] leads to. The first makes the
// schema too, unless it is there. An error is about the name.
func Migrations(schema string) ([]Migration, error) {
	in, err := newSchema(schema)
	if err != nil {
		return nil, err
	}
	all, err := readMigrations()
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].SQL = in.in(all[i].SQL)
	}
	all[0].SQL = lockRow(in) + "\n" + all[0].SQL
	return all, nil
}

// readMigrations returns the migrations in order, for DefaultSchema. An error means that this program was built from
// files that do not fit.
func readMigrations() (all []Migration, err error) {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := migrations.ReadFile("migrations/" + f.Name())
		if err != nil {
			return nil, err
		}
		m := Migration{Name: strings.TrimSuffix(f.Name(), ".sql")}
		number, _, _ := strings.Cut(m.Name, "_")
		first, _, _ := strings.Cut(string(text), "\n")
		program, said := strings.CutPrefix(first, "-- minimum program: ")
		m.Number, _ = strconv.Atoi(number)
		m.program, _ = strconv.Atoi(program)
		if !said || m.Number != len(all)+1 || m.program < 1 || m.program > m.Number {
			return nil, fmt.Errorf("postgres: migration %s is out of order, or does not say its minimum program", m.Name)
		}
		m.SQL = fmt.Sprintf("%s\nupdate imagegend.schema set version = %d, program = %d;\n",
			strings.TrimSpace(string(text)), m.Number, m.program)
		all = append(all, m)
	}
	return all, nil
}

// Migrate brings a schema ("": DefaultSchema) to this version, or leaves a later one as it is. Several processes may do
// so at once, beside others that work on it. It takes the rights of the schema's owner or, where there is none yet, the
// right CREATE on the database. Nothing stays behind in the sessions of the pool. The errors are those of [Open].
func Migrate(ctx context.Context, pool *pgxpool.Pool, name string) error {
	in, err := newSchema(name)
	if err != nil {
		return err
	}
	return acquired(ctx, pool, func(c *pgxpool.Conn) error { return checkSchema(ctx, c, in, true, true) })
}

// Version returns how many migrations a schema ("": DefaultSchema) has; 0: it is not there.
func Version(ctx context.Context, pool *pgxpool.Pool, name string) (version int, err error) {
	in, err := newSchema(name)
	if err != nil {
		return 0, err
	}
	err = acquired(ctx, pool, func(c *pgxpool.Conn) error {
		version, _, err = readVersion(ctx, inSchema{c, in})
		return err
	})
	return version, err
}

// acquired runs f over a connection of a pool.
func acquired(ctx context.Context, pool *pgxpool.Pool, f func(*pgxpool.Conn) error) error {
	c, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("postgres: the database cannot be reached: %w", withoutPassword(err))
	}
	defer c.Release()
	return f(c)
}

// checkSchema checks the database, and then does what upToDate does with all migrations.
func checkSchema(ctx context.Context, c *pgxpool.Conn, in *schema, watched, change bool) error {
	if err := checkDatabase(ctx, c, watched); err != nil {
		return err
	}
	all, err := readMigrations()
	if err != nil {
		return err
	}
	return upToDate(ctx, c, in, all, change)
}

// upToDate brings a schema that is behind to the last of all migrations if change is set. ErrOlderSchema: it is behind,
// and change is not set.
func upToDate(ctx context.Context, c *pgxpool.Conn, in *schema, all []Migration, change bool) error {
	version, program, err := readVersion(ctx, inSchema{c, in})
	switch {
	case err != nil:
		return err
	case version >= len(all):
		return knows(len(all), version, program)
	case !change:
		return fmt.Errorf("%w: %s has %d of %d migrations; run imagegend migrate, or call postgres.Migrate, as its owner",
			ErrOlderSchema, in, version, len(all))
	}
	_, err = migrate(ctx, c.Conn(), in, all)
	return err
}

// readVersion returns the version of the schema, and how many migrations a program must know for it. 0: it is not
// there.
func readVersion(ctx context.Context, in inSchema) (version, program int, err error) {
	err = in.QueryRow(ctx, `select version, program from imagegend.schema`).Scan(&version, &program)
	if codeOf(err) == codeNoTable {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("postgres: the schema %s cannot be read: %w", in.schema, err)
	}
	return version, program, nil
}

// lockRow makes the row that migrations lock, and what it takes to have one. "create schema if not exists" takes the
// right to make one even where the schema is there, so it runs only where it is not. Of several processes that run it
// at once on an empty database, some may fail with a row or a name that another has just made: those are run again.
func lockRow(in *schema) string {
	unlessThere := fmt.Sprintf(`begin if to_regnamespace(%s) is null then create schema if not exists %s; end if; end`,
		literal(in.String()), in)
	return `do ` + literal(unlessThere) + `;` + in.in(`
create table if not exists imagegend.schema (one boolean primary key default true check (one), version integer not null, program integer not null);
insert into imagegend.schema values (true, 0, 0) on conflict do nothing;`)
}

// migrate brings a schema to the last of the given migrations and returns its version, which may be later than those.
// Several processes may migrate at once: one does it, in one transaction, while the others wait for its lock and then
// find nothing left to do.
//
// ErrNewerSchema: this program knows less than the schema asks for.
func migrate(ctx context.Context, c *pgx.Conn, in *schema, all []Migration) (version int, err error) {
	err = retried(func() error {
		_, err := c.Exec(ctx, lockRow(in), pgx.QueryExecModeSimpleProtocol)
		return err
	})
	switch {
	case codeOf(err) == codeNoRight:
		return 0, fmt.Errorf("%w, and the role cannot change it: run imagegend migrate as the owner of %s or, if it is not there, grant CREATE on the database: %w",
			ErrOlderSchema, in, err)
	case err != nil:
		return 0, fmt.Errorf("postgres: the schema %s cannot be made: %w", in, err)
	}
	err = retried(func() error {
		return pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) (err error) {
			version, err = migrateIn(ctx, inSchema{tx, in}, all)
			return err
		})
	})
	return version, err
}

// patience is how long a migration waits for the lock on a table that others work on. Everybody who comes later waits
// behind it meanwhile, so it gives up soon and tries again (retried). Waiting longer would not always help: a
// transaction that holds one table and wants another may wait for the migration, which waits for that transaction.
const patience = `set local lock_timeout = '1s'`

// lockOut is the first lock of a migration: on the table that every charge and settlement locks first. Those who come
// wait there, and hold nothing. If a migration came by another table first, everybody with an account would wait for
// that one, and the migration for their accounts, again and again under load.
const lockOut = `lock table imagegend.accounts in exclusive mode`

// migrateIn runs the migrations that are missing, in order, each of which notes its version. All of them are committed
// together.
func migrateIn(ctx context.Context, in inSchema, all []Migration) (version int, err error) {
	var program int
	if _, err := in.Exec(ctx, patience); err != nil {
		return 0, err
	}
	if err := in.QueryRow(ctx, `select version, program from imagegend.schema for update`).
		Scan(&version, &program); err != nil {
		return 0, err
	}
	if err := knows(len(all), version, program); err != nil {
		return 0, err
	}
	missing := all[min(version, len(all)):]
	if version > 0 && len(missing) > 0 {
		if _, err := in.Exec(ctx, lockOut); err != nil {
			return 0, err
		}
	}
	for _, m := range missing {
		if _, err := in.Exec(ctx, m.SQL, pgx.QueryExecModeSimpleProtocol); err != nil {
			return 0, fmt.Errorf("postgres: migration %d: %w", m.Number, err)
		}
		version = m.Number
	}
	return version, nil
}

// knows returns an ErrNewerSchema if a program that knows only the first known migrations cannot work on a schema of
// this version, which asks for programs that know at least program.
func knows(known, version, program int) error {
	if known < program {
		return fmt.Errorf(
			"%w: it has schema %d, which needs a program that knows schema %d; this program knows %d; use a later one",
			ErrNewerSchema, version, program, known)
	}
	return nil
}
