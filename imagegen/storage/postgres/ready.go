package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/imagegend/imagegend/imagegen"
)

// ErrUnsafe: as the database is configured it may lose what it has acknowledged.
var ErrUnsafe = errors.New("postgres: the database may lose what it has acknowledged")

// farOff is how far a machine's clock may be off the database's before there is a warning.
const farOff = time.Minute

// lookFor is how long a look at the database may take.
const lookFor = 2 * time.Second

// oldest is the first version of PostgreSQL that this package is for.
const oldest = 140000

// checkDatabase refuses a database that cannot keep what it promises. watched: a wait for a standby that is cancelled
// will be noticed.
func checkDatabase(ctx context.Context, q sender, watched bool) error {
	var version int
	var commits, flushes, recovery, encoding, standbys string
	err := q.QueryRow(ctx,
		`select current_setting('server_version_num')::int, current_setting('synchronous_commit'), current_setting('fsync'), pg_is_in_recovery()::text,
 current_setting('server_encoding'), current_setting('synchronous_standby_names')`).
		Scan(&version, &commits, &flushes, &recovery, &encoding, &standbys)
	switch {
	case err != nil:
		return fmt.Errorf("postgres: %w", err)
	case version < oldest:
		return fmt.Errorf("postgres: the database has version %d; PostgreSQL %d or later is needed", version/10000,
			oldest/10000)
	case encoding != "UTF8":
		return fmt.Errorf("postgres: the encoding of the database is %s; make one with encoding 'UTF8' template template0",
			encoding)
	case commits != "on" && commits != "remote_apply":
		return fmt.Errorf("%w: synchronous_commit is %q for this user and database; set it to on", ErrUnsafe, commits)
	case flushes != "on":
		return fmt.Errorf("%w: fsync is off; turn it on", ErrUnsafe)
	case standbys != "" && !watched:
		return fmt.Errorf("%w: synchronous_standby_names is set, and the pool does not notice when a wait for a standby was cancelled; call postgres.Watch with its configuration", ErrUnsafe)
	case recovery == "true":
		return errors.New("postgres: this is a standby, which cannot be written to; name the primary, or both with target_session_attrs=read-write")
	}
	return nil
}

// Ready implements [imagegen.ReadinessChecker]: the database answers, is the primary, loses nothing, and is not being
// moved. A node that has it open when a move begins would otherwise be sent work for ever, and refuse it.
func (db *DB) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	err := checkDatabase(ctx, db.sql, db.watched)
	if err == nil {
		err = db.refuseMoved(ctx)
	}
	if err != nil {
		return &imagegen.NotReadyError{Code: "database", Err: withoutPassword(err)}
	}
	return nil
}

// Warnings implements [imagegen.Warner]: no standby confirms what is committed; this machine's clock is far off.
func (db *DB) Warnings(ctx context.Context) (warnings []imagegen.Notice) {
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	var standbys string
	var at time.Time
	if err := db.sql.QueryRow(ctx, `select current_setting('synchronous_standby_names'), clock_timestamp()`).
		Scan(&standbys, &at); err != nil {
		return nil // Ready tells
	}
	if standbys == "" {
		warnings = append(warnings, imagegen.Notice{Code: "standby",
			Detail: "no synchronous standby confirms what is committed: if the database's machine is lost, so is what it wrote last; set synchronous_standby_names"})
	}
	if off := time.Since(at).Round(time.Second); off > farOff || off < -farOff {
		warnings = append(warnings, imagegen.Notice{Code: "node_clock",
			Detail: fmt.Sprintf("the clock of this machine is %s ahead of the database's, whose time counts; set it right", off)})
	}
	return warnings
}

// withoutPassword takes what may be a password out of an error about an address.
func withoutPassword(err error) error {
	if parse, ok := errors.AsType[*url.Error](err); ok {
		return parse.Err
	}
	if parse, ok := errors.AsType[*pgconn.ParseConfigError](err); ok && parse.Unwrap() != nil {
		return parse.Unwrap()
	}
	return err
}

// hasSetting reports whether an address says something itself.
func hasSetting(address, setting string) bool { return strings.Contains(address, setting) }
