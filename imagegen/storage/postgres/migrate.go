package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// migrations are the steps of the schema, numbered from 1 without gaps. The first line of each says how many of them a
// program must know to work on a database that has this one. A change comes in a release that adds, and in a later one
// that takes away, so that the programs of two releases can work on one database at the same time.
//
// A migration that was released never changes: databases that have it do not run it again.
//
//go:embed migrations/*.sql
var migrations embed.FS

// ErrNewerSchema: a later program has changed the schema in such a way that this one would not understand it.
var ErrNewerSchema = errors.New("postgres: the database was changed by a later version of the program")

// migration is one step of the schema.
type migration struct {
	number  int
	program int // how many migrations a program must know to work beside it; from 1 to number
	sql     string
}

// readMigrations returns the migrations in order. An error means that this program was built from files that do not
// fit.
func readMigrations() (all []migration, err error) {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := migrations.ReadFile("migrations/" + f.Name())
		if err != nil {
			return nil, err
		}
		m := migration{sql: string(text)}
		number, _, _ := strings.Cut(f.Name(), "_")
		first, _, _ := strings.Cut(m.sql, "\n")
		program, said := strings.CutPrefix(first, "-- minimum program: ")
		m.number, _ = strconv.Atoi(number)
		m.program, _ = strconv.Atoi(program)
		if !said || m.number != len(all)+1 || m.program < 1 || m.program > m.number {
			return nil, fmt.Errorf("postgres: migration %s is out of order, or does not say its minimum program",
				f.Name())
		}
		all = append(all, m)
	}
	return all, nil
}

// lockRow makes the row that migrations lock, and what it takes to have one. Of several processes that run it at once
// on an empty database, some may fail with a row or a name that another has just made: those are run again.
const lockRow = `
create schema if not exists imagegend;
create table if not exists imagegend.schema (one boolean primary key default true check (one), version integer not null, program integer not null);
insert into imagegend.schema values (true, 0, 0) on conflict do nothing`

// migrate brings the schema to the last of the given migrations and returns its version, which may be later than those.
// Several processes may migrate at once: one does it, in one transaction, while the others wait for its lock and then
// find nothing left to do. A database that is up to date is only read, so an ordinary start needs no right to create
// anything and waits for nobody.
//
// ErrNewerSchema: this program knows less than the schema asks for.
func migrate(ctx context.Context, c *pgx.Conn, all []migration) (version int, err error) {
	known, program := len(all), 0
	if err := c.QueryRow(ctx, `select version, program from imagegend.schema`).Scan(&version, &program); err == nil &&
		version >= known {
		return version, knows(known, version, program)
	}
	err = retried(func() error {
		_, err := c.Exec(ctx, lockRow, pgx.QueryExecModeSimpleProtocol)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("postgres: the schema imagegend cannot be made; the database's user needs the right CREATE on the database: %w", err)
	}
	err = retried(func() error {
		return pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) (err error) {
			version, err = migrateIn(ctx, tx, all)
			return err
		})
	})
	return version, err
}

// patience is how long a migration waits for the lock on a table that others work on. Everybody who comes later waits
// behind it meanwhile, so it gives up soon and tries again (retried). Waiting longer would not always help: a
// transaction that holds one table and wants another may wait for the migration, which waits for that transaction.
const patience = `set local lock_timeout = '1s'`

// migrateIn runs the migrations that are missing, in order, and notes each. All of them and the version that says so
// are committed together.
func migrateIn(ctx context.Context, tx pgx.Tx, all []migration) (version int, err error) {
	var program int
	if _, err := tx.Exec(ctx, patience); err != nil {
		return 0, err
	}
	if err := tx.QueryRow(ctx, `select version, program from imagegend.schema for update`).
		Scan(&version, &program); err != nil {
		return 0, err
	}
	if err := knows(len(all), version, program); err != nil {
		return 0, err
	}
	for _, m := range all[min(version, len(all)):] {
		if _, err := tx.Exec(ctx, m.sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			return 0, fmt.Errorf("postgres: migration %d: %w", m.number, err)
		}
		if _, err := tx.Exec(ctx, `update imagegend.schema set version = $1, program = $2`, m.number,
			m.program); err != nil {
			return 0, err
		}
		version = m.number
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
