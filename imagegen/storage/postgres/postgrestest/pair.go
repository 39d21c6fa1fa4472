//go:build unix

package postgrestest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Pair is a primary and its standby.
type Pair struct {
	primary, standby *cluster
	replication      Replication
}

// Replication is how a standby follows, as pg_stat_replication calls it.
type Replication string

const (
	Synchronous  Replication = "sync"  // a commit is acknowledged once the standby has it
	Asynchronous Replication = "async" // whether the standby has it or not
)

// standbyName is what the primary knows its standby by.
const standbyName = "standby"

// StartPair starts a pair that ends with the test. Start says when the test is skipped.
func StartPair(t testing.TB, r Replication) *Pair {
	t.Helper()
	required(t)
	p := &Pair{replication: r}
	for _, c := range []**cluster{&p.primary, &p.standby} {
		made, err := newCluster("postgrespair")
		check(t, err)
		*c = made
		t.Cleanup(func() {
			if made.alive != nil {
				made.stop("INT")
			}
			made.remove()
		})
	}
	check(t, p.primary.initialise())
	check(t, p.primary.start())
	p.follow(t)
	return p
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("postgrestest: %v", err)
	}
}

// Ports are where the two listen, on 127.0.0.1, whichever is the primary.
func (p *Pair) Ports() []int { return []int{p.primary.port, p.standby.port} }

// Address is the address of a database on whichever is the primary, for the superuser, by ports that lead to the two.
func (p *Pair) Address(database string, ports []int) string {
	var hosts []string
	for _, port := range ports {
		hosts = append(hosts, fmt.Sprintf("127.0.0.1:%d", port))
	}
	return "postgres://postgres@" + strings.Join(hosts, ",") + "/" + database +
		"?sslmode=disable&target_session_attrs=read-write"
}

// Exec runs a statement on the primary, as the superuser.
func (p *Pair) Exec(database, sql string) error { return p.primary.Exec(database, sql) }

// Kill has the primary fall over.
func (p *Pair) Kill() { p.primary.stop("QUIT") }

// Restart starts a primary that fell over.
func (p *Pair) Restart(t testing.TB) {
	t.Helper()
	check(t, p.primary.start())
}

// Promote makes the standby of a primary that fell over the primary. It gets the setting first that it waits for no
// standby, since there is none: it would acknowledge no commit.
func (p *Pair) Promote(t testing.TB) {
	t.Helper()
	for _, sql := range []string{"alter system reset synchronous_standby_names", "select pg_reload_conf()",
		"select pg_promote()"} {
		check(t, p.standby.Exec("postgres", sql))
	}
	p.primary, p.standby = p.standby, p.primary
}

// Rejoin makes the primary that fell over the standby of the one that was promoted.
func (p *Pair) Rejoin(t testing.TB) {
	t.Helper()
	p.follow(t)
}

// Detach cuts the standby off from its primary. As long as that is so, no commit is acknowledged that waits for it.
func (p *Pair) Detach(t testing.TB) {
	t.Helper()
	check(t, p.standby.Exec("postgres", "alter system set primary_conninfo = ''"))
	check(t, p.standby.Exec("postgres", "select pg_reload_conf()"))
	p.await(t, "select not exists(select from pg_stat_replication)")
}

// Attach has the standby follow its primary again.
func (p *Pair) Attach(t testing.TB) {
	t.Helper()
	check(t, p.standby.Exec("postgres", "alter system set primary_conninfo = '"+p.conninfo()+"'"))
	check(t, p.standby.Exec("postgres", "select pg_reload_conf()"))
	p.Follow(t)
}

// Follow waits until the standby follows as it should. One that is promoted before may lack what a primary has shown
// that was started again: it shows what it did not wait for before it fell over.
func (p *Pair) Follow(t testing.TB) {
	t.Helper()
	p.await(t, p.follows())
}

// CatchUp waits until the standby has replayed all that the primary has written so far.
func (p *Pair) CatchUp(t testing.TB) {
	t.Helper()
	p.await(t, "select coalesce(bool_and(replay_lsn >= pg_current_wal_insert_lsn()), false) from pg_stat_replication")
}

// conninfo is how the standby finds its primary.
func (p *Pair) conninfo() string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=postgres application_name=%s", p.primary.port, standbyName)
}

// follows asks the primary whether the standby follows as it should.
func (p *Pair) follows() string {
	return "select exists(select from pg_stat_replication where state = 'streaming' and sync_state = '" +
		string(p.replication) + "')"
}

// follow makes the other cluster a copy of the primary that follows it.
func (p *Pair) follow(t testing.TB) {
	t.Helper()
	names := ""
	if p.replication == Synchronous {
		names = standbyName
	}
	check(t, p.copy())
	check(t, p.standby.shell(`echo "$4" >>"$2/data/postgresql.auto.conf" && touch "$2/data/standby.signal"`,
		fmt.Sprintf("synchronous_standby_names = '%s'\nprimary_conninfo = '%s'\nwal_retrieve_retry_interval = 100",
			names, p.conninfo())))
	check(t, p.standby.start())
	check(t, p.primary.Exec("postgres", "alter system set synchronous_standby_names = '"+names+"'"))
	check(t, p.primary.Exec("postgres", "select pg_reload_conf()"))
	p.await(t, p.follows())
}

// copy copies the primary's directory while it runs: not every distribution of PostgreSQL has a program for that.
func (p *Pair) copy() error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, p.primary.Address("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "select pg_backup_start('standby', true)"); err != nil {
		return err
	}
	// What is removed meanwhile is not needed: cp says that it is not there any more.
	if err := p.standby.shell(`rm -rf "$2/data" && { cp -a "$4/data" "$2/" || true; } && cd "$2/data" && rm -rf postmaster.pid pg_wal/*`, p.primary.dir); err != nil {
		return err
	}
	var label string
	if err := conn.QueryRow(ctx, "select labelfile from pg_backup_stop(false)").Scan(&label); err != nil {
		return err
	}
	return p.standby.shell(`printf %s "$4" >"$2/data/backup_label"`, label)
}

// await waits until the primary says that something is so.
func (p *Pair) await(t testing.TB, sql string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, p.primary.Address("postgres"))
	check(t, err)
	defer conn.Close(ctx)
	for end := time.Now().Add(startFor); ; time.Sleep(10 * time.Millisecond) {
		var so bool
		check(t, conn.QueryRow(ctx, sql).Scan(&so))
		if so {
			return
		}
		if time.Now().After(end) {
			log, _ := os.ReadFile(filepath.Join(p.standby.dir, "log"))
			t.Fatalf("postgrestest: not within %v: %s\n%s", startFor, sql, log)
		}
	}
}
