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

// Migrations are numbered from 1. The first line of each says which schema a program has to know at least to
// work beside it: a change comes in one release that adds, and in a later one that takes away, so that the
// programs of two releases work on one database.
//
//go:embed migrations/*.sql
var migrations embed.FS

// ErrNewerSchema: the database is of a program so much later that this one would not understand it.
var ErrNewerSchema = errors.New("postgres: the database is of a later version of the program")

// migration is one step of the schema.
type migration struct {
	number, program int // the least that a program has to know
	sql             string
}

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
			return nil, fmt.Errorf("postgres: migration %s is out of order, or does not say its minimum program", f.Name())
		}
		all = append(all, m)
	}
	return all, nil
}

const lockRow = `
create schema if not exists imagegend;
create table if not exists imagegend.schema (one boolean primary key default true check (one), version integer not null, program integer not null);
insert into imagegend.schema values (true, 0, 0) on conflict do nothing`

// migrate brings the schema to the last of some migrations; several processes may at once. It reports the
// schema's version. Programs that know less than what the schema asks of them are refused.
func migrate(ctx context.Context, c *pgx.Conn, all []migration) (version int, err error) {
	known, program := len(all), 0
	if err := c.QueryRow(ctx, `select version, program from imagegend.schema`).Scan(&version, &program); err == nil && version >= known {
		return version, knows(known, version, program) // no right to create anything is asked for
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

// patience is how long a migration waits for a table that others work on. They wait behind it meanwhile: rather it comes
// again. Those who hold one table and want another may well be in its way, and it in theirs.
const patience = `set local lock_timeout = '1s'`

func migrateIn(ctx context.Context, tx pgx.Tx, all []migration) (version int, err error) {
	var program int
	if _, err := tx.Exec(ctx, patience); err != nil {
		return 0, err
	}
	if err := tx.QueryRow(ctx, `select version, program from imagegend.schema for update`).Scan(&version, &program); err != nil {
		return 0, err
	}
	if err := knows(len(all), version, program); err != nil {
		return 0, err
	}
	for _, m := range all[min(version, len(all)):] {
		if _, err := tx.Exec(ctx, m.sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			return 0, fmt.Errorf("postgres: migration %d: %w", m.number, err)
		}
		if _, err := tx.Exec(ctx, `update imagegend.schema set version = $1, program = $2`, m.number, m.program); err != nil {
			return 0, err
		}
		version = m.number
	}
	return version, nil
}

func knows(known, version, program int) error {
	if known < program {
		return fmt.Errorf("%w: it has schema %d, which asks for programs that know %d; this one knows %d; use a later one", ErrNewerSchema, version, program, known)
	}
	return nil
}
