package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/lists"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
)

// migrateCommand works on the tables alone, so it needs neither images nor a server, and may run beside servers.
func (a *app) migrateCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "migrate",
		Short: "bring the tables of a database to this version",
		Long: "Brings the tables in a schema of a PostgreSQL database to this version, as a role that owns the schema. serve does so\n" +
			"too when it starts, if its role may. --print writes the same as numbered SQL, for a tool that runs migrations: each\n" +
			"step once, in order, in a transaction. --status says which steps were run, by whichever way.",
		Example: "  imagegend migrate --database postgres://images_owner@db.example.com/app --database-schema images\n" +
			"  imagegend migrate --database-schema images --print",
	}
	show := c.Flags().Bool("print", false, "write the steps as SQL, without a database")
	status := c.Flags().Bool("status", false, "list the steps, and change nothing")
	asJSON := jsonFlag(c, "one JSON object; with --print or --status one array")
	c.MarkFlagsMutuallyExclusive("print", "status")
	a.settings.DatabaseFlags(c.Flags())
	c.RunE = a.action(func(cmd *cobra.Command, _ []string) error {
		all, err := postgres.Migrations(a.settings.DatabaseSchema)
		switch {
		case err != nil:
			return err
		case *show:
			return a.printMigrations(all, *asJSON)
		case a.settings.Database == "":
			return usage(cmd, "name the database with --database")
		}
		return a.migrate(cmd.Context(), all, *status, *asJSON)
	})
	return c
}

// step is a migration, as --json prints it.
type step struct {
	Number  int    `json:"number"`
	Name    string `json:"name"`
	SQL     string `json:"sql,omitempty"`
	Applied *bool  `json:"applied,omitempty"`
}

// printMigrations writes all SQL, which is one script that a person can cut where a step begins.
func (a *app) printMigrations(all []postgres.Migration, asJSON bool) error {
	if asJSON {
		return printJSON(a.stdout, lists.Each(all, func(m postgres.Migration) step {
			return step{Number: m.Number, Name: m.Name, SQL: m.SQL}
		}))
	}
	for _, m := range all {
		if _, err := fmt.Fprintf(a.stdout, "-- migration %s\n%s\n", m.Name, m.SQL); err != nil {
			return err
		}
	}
	return nil
}

// migrated tells what a run came to, as --json prints it.
type migrated struct {
	Schema  string `json:"schema"`
	Applied int    `json:"applied"` // steps by this run; another may have run some at the same time
	Version int    `json:"version"`
}

// migrate runs what is missing or, with status, lists it.
func (a *app) migrate(ctx context.Context, all []postgres.Migration, status, asJSON bool) error {
	schema := cmp.Or(a.settings.DatabaseSchema, postgres.DefaultSchema)
	pool, err := postgres.NewPool(ctx, postgres.Config{URL: a.settings.Database, Connections: 1})
	if err != nil {
		return err
	}
	defer pool.Close()
	before, err := postgres.Version(ctx, pool, schema)
	if err != nil {
		return err
	}
	if status {
		return a.printStatus(all, before, asJSON)
	}
	if err := postgres.Migrate(ctx, pool, schema); err != nil {
		return err
	}
	m := migrated{Schema: schema, Applied: max(len(all)-before, 0), Version: max(len(all), before)}
	return a.printResult(asJSON, m, "schema %s has all of its %d migrations, %d of them new", schema, m.Version,
		m.Applied)
}

// printStatus lists the steps that this program knows. A later program may have run others.
func (a *app) printStatus(all []postgres.Migration, version int, asJSON bool) error {
	steps := lists.Each(all, func(m postgres.Migration) step {
		return step{Number: m.Number, Name: m.Name, Applied: new(m.Number <= version)}
	})
	return printList(a, asJSON, steps, []string{"MIGRATION", "STATUS"}, func(s step) []any {
		if *s.Applied {
			return []any{s.Name, "applied"}
		}
		return []any{s.Name, "missing"}
	})
}
