package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// Options change how a directory is opened. The zero value is a good choice.
type Options struct {
	MustExist bool             // do not create a database if there is none
	MinFree   int64            // with fewer free bytes on the disk, new work is refused; 0: 64 MiB
	Now       func() time.Time // the wall clock, which the DB checks as imagegen.Timekeeper describes; nil: time.Now
	Log       *slog.Logger     // nil: silent

	// Observer observes each commit ([imagegen.EventCommitted]), with the time until
	// it was durable. nil: none.
	Observer imagegen.Observer
}

// DB is an open directory. It implements everything that an engine and an operator need:
//
//   - [imagegen.TxStore], which includes users and keys
//   - [imagegen.CreditAdmin], which commits together with it: Charge, Settle, Grant, Revoke, Lots, History
//   - [imagegen.ImageStore] and [imagegen.Spool]
//   - [account.LoginStore], [account.OperatorKeyStore] and [account.TrailStore]
//   - [imagegen.Inspector], [imagegen.TotalsKeeper], [imagegen.FeedKeeper] and [imagegen.Timekeeper]
//
// It is safe for concurrent use. Once the outcome of a commit is unknown it writes nothing
// more, see Failed. A write that returns [imagegen.ErrNotApplied] has changed nothing.
type DB struct {
	// The parts whose methods DB has as its own. One that start has not come to is nil.
	store
	books
	timekeeper
	trails
	*images
	*spool

	dir string // an absolute path
	log *slog.Logger

	observer imagegen.Observer
	now      func() time.Time // the wall clock, unjudged: only for dates that people read
	root     *os.Root         // of dir: no name that is opened through it leads out of dir
	file     *database
	clock    *ledger.Ledger // the same value as books and timekeeper; it judges the time for all parts
	tables   *tables.Tables // the same value as store
	space    *space
	damage   damage

	background sync.WaitGroup     // upkeep
	quit       context.CancelFunc // ends it
	running    bool               // this process owns the file "running", and Close removes it
	close      sync.Once
}

// The embedded interfaces have lower-case names, so that callers cannot reach the parts of a DB.
type (
	books      = imagegen.CreditAdmin
	trails     = account.TrailStore
	timekeeper = imagegen.Timekeeper

	store interface {
		imagegen.TxStore
		imagegen.TotalsKeeper
		imagegen.FeedKeeper
		account.LoginStore
		account.OperatorKeyStore
		UserPage(context.Context, imagegen.UserQuery) (imagegen.UserPage, error)
		Disputed(context.Context, imagegen.GenerationID, int) ([]imagegen.Record, int, error)
		Unsettled(context.Context, imagegen.GenerationID, int) ([]imagegen.Record, int, error)
	}
)

var (
	_ imagegen.TxStore      = (*DB)(nil)
	_ imagegen.Inspector    = (*DB)(nil)
	_ imagegen.TotalsKeeper = (*DB)(nil)
	_ imagegen.FeedKeeper   = (*DB)(nil)
	_ account.LoginStore    = (*DB)(nil)

	_ account.OperatorKeyStore = (*DB)(nil)

	_ imagegen.CreditAdmin = (*DB)(nil)
	_ account.TrailStore   = (*DB)(nil)
	_ imagegen.ImageStore  = (*DB)(nil)
	_ imagegen.Spool       = (*DB)(nil)
	_ imagegen.Timekeeper  = (*DB)(nil)

	_ imagegen.ReadinessChecker = (*DB)(nil)
	_ imagegen.Warner           = (*DB)(nil)
	_ imagegen.SpaceTaker       = (*DB)(nil)
	_ imagegen.OneProcess       = (*DB)(nil)
)

// Open opens a directory. If it is absent or empty, Open creates a new database in it. o may be
// nil. The caller closes the DB.
//
// ErrNoDatabase: the directory contains something else; or it is absent or empty, and o.MustExist is
// set. ErrLocked: another process still has it open after a second. ErrNewerSchema: a newer version
// of this package wrote it. ErrCorrupt: the file is damaged. transfer.ErrMoved: the directory was
// moved, or is being moved; only OpenTransferEndpoint opens it.
func Open(dir string, o *Options) (*DB, error) {
	return openDir(dir, o.withDefaults(), (*DB).start)
}

// openDir opens everything in the order in which the parts need each other. If a step fails,
// what was opened is closed again.
func openDir(dir string, options Options, start func(*DB) error) (*DB, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	if err := prepare(dir, options.MustExist); err != nil {
		return nil, err
	}
	bolt, err := openFile(dir)
	if err != nil {
		return nil, err
	}
	db := &DB{dir: dir, log: options.Log, observer: options.Observer, now: options.Now, quit: func() {},
		file: newDatabase(bolt, options.Log), space: &space{dir: dir, min: options.MinFree, free: freeBytes}}
	if err := start(db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func (o *Options) withDefaults() Options {
	if o == nil {
		o = new(Options)
	}
	d := *o
	d.MinFree, d.Log = cmp.Or(d.MinFree, defaultMinFree), cmp.Or(d.Log, slog.New(slog.DiscardHandler))
	if d.Now == nil {
		d.Now = time.Now
	}
	return d
}

// startFile connects the database with the rest of the directory and starts the committer. It does not look at
// the contents yet. OpenTransferEndpoint begins with it as well.
func (db *DB) startFile() error {
	db.file.observer = db.observer
	db.file.makeRoom = db.space.dropBallast
	db.file.onFault = func(err error) {
		if err := markUnclean(db.dir, err); err != nil {
			db.log.Error("the next start will not know that it must check the file", "error", err)
		}
	}
	return db.file.start()
}

// start continues from what the previous process left. The order matters:
//
//   - refuseMoved comes before anything writes, since the data of a directory that was moved lives elsewhere.
//   - noteLostAnswers and cleanup need both the files and the tables.
//   - cleanup comes before the first upload, since it removes every upload that no record names.
//   - upkeep starts last. Close ends it.
func (db *DB) start() error {
	if err := db.startFile(); err != nil {
		return err
	}
	if err := db.refuseMoved(); err != nil {
		return err
	}
	if err := db.openFiles(); err != nil {
		return err
	}
	if err := db.openTables(); err != nil {
		return err
	}
	db.rememberClock(context.Background()) // before anything is dated: after a kill, it shows that a clock ran fast
	db.noteLostAnswers(context.Background())
	if err := db.cleanup(context.Background()); err != nil {
		return err
	}
	if err := db.space.layBallast(); err != nil {
		db.log.Warn("no space could be set aside for a full disk", "error", err) // it is tried again every minute
	}
	ctx, quit := context.WithCancel(context.Background())
	db.quit = quit
	db.background.Go(func() { db.upkeep(ctx) })
	return nil
}

// openFiles creates missing directories and opens the stores of images and uploads.
func (db *DB) openFiles() (err error) {
	if db.root, err = os.OpenRoot(db.dir); err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	for _, name := range []string{imagesDir, spoolDir, tempDir} {
		if err := db.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("storage: %w", err)
		}
	}
	if err := syncDir(db.dir); err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	f := newFiles(db.dir, db.root, db.file.stopped)
	db.spool = &spool{files: f, space: db.space}
	db.images, err = newImages(f)
	return err
}

// loggedGap is the shortest pause that is logged: of the process, or of a machine that slept.
const loggedGap = time.Hour

// openTables opens the ledger first, since its clock judges the time for all other
// tables, and loads the queue and the leases last.
func (db *DB) openTables() (err error) {
	if db.clock, err = ledgerkv.New(db.file, db.now); err != nil {
		return err
	}
	if gap := db.clock.Gap(); gap >= loggedGap {
		db.log.Info("time went on while nobody had the directory open", "gap", gap.Round(time.Second).String())
	}
	t := tables.New(db.file, db.clock)
	t.OnDamage = db.damagedGeneration
	db.tables, db.store = t, t
	db.books, db.timekeeper = db.clock, db.clock
	db.trails = trail.New(db.file, db.clock.Now)
	return t.Load(context.Background())
}

// Close waits for reads and writes that have begun, and closes the directory. Writes that
// still wait fail with [imagegen.ErrNotApplied]. It may be called again. Call it
// after engine.Engine.Stop.
func (db *DB) Close() (err error) {
	// The background work writes through the committer, and writeLast does too: so the file is stopped after
	// both. The file "running" goes last, since it tells the next process that everything else was finished.
	db.close.Do(func() {
		db.quit()
		db.background.Wait()
		err = errors.Join(db.writeLast(context.Background()), db.file.stop())
		if db.root != nil {
			db.noteStopped()
			err = errors.Join(err, db.root.Close())
		}
	})
	if err != nil {
		return fmt.Errorf("storage: closing %s: %w", db.dir, err)
	}
	return nil
}

// writeLast writes what only memory holds: counts of failed sign-ins, and whether the clock is in doubt. It also
// serves a DB that start did not finish, in which some parts are nil.
func (db *DB) writeLast(ctx context.Context) (err error) {
	if t, open := db.trails.(*trail.Trail); open {
		err = t.WriteCounts(ctx)
	}
	if db.clock == nil || db.Err() != nil { // never opened; or stopped, which has been reported
		return err
	}
	db.rememberClock(ctx)
	return err
}

func (db *DB) rememberClock(ctx context.Context) {
	if err := db.clock.Remember(ctx); err != nil {
		db.log.Warn("the time, or a doubt about it, could not be written; the next start will not know of it", "error", err)
	}
}

// OneProcess implements [imagegen.OneProcess]: the directory is locked.
func (*DB) OneProcess() {}

// Failed returns a channel that is closed when the disk fails during a commit. From then
// on every write is refused, and the process should end: imagegend exits with status 74.
// The next process to open the directory checks the whole file.
func (db *DB) Failed() <-chan struct{} { return db.file.failed }

// Err returns an ErrStopped that says why the storage has stopped; nil if it has not.
func (db *DB) Err() error { return db.file.Err() }

// Ready implements [imagegen.ReadinessChecker]. Its answer about the disk may be a second old.
func (db *DB) Ready(context.Context) error {
	if err := db.Err(); err != nil {
		return err
	}
	return db.space.forWork()
}

// Warnings implements [imagegen.Warner]. It reports damage that was found since the last
// clean audit, and a disk that is nearly full.
func (db *DB) Warnings(context.Context) []imagegen.Notice {
	warnings := db.damage.warning()
	if s, err := db.Space(); err == nil && s.NearlyFull() {
		warnings = append(warnings, imagegen.Notice{Code: "disk",
			Detail: fmt.Sprintf("%s has %d MiB free; below %d MiB no new work is taken; make room",
				db.dir, s.Free>>20, s.Reserve>>20)})
	}
	return warnings
}

// Joins implements [imagegen.TxStore]. It is true only for this DB itself, not for a wrapper around it.
func (db *DB) Joins(l imagegen.Ledger) bool { return l == imagegen.Ledger(db) }

// Create implements [imagegen.Store]. imagegen.ErrNotApplied: also if the disk is nearly full. Settlements and
// refunds, which use other methods, are never refused for that.
func (db *DB) Create(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	if err := db.space.forWork(); err != nil {
		return imagegen.Record{}, notApplied(err)
	}
	return db.store.Create(ctx, r, lease)
}

// CreateCharged implements [imagegen.TxStore]. imagegen.ErrNotApplied: also if the disk is nearly full.
func (db *DB) CreateCharged(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	if err := db.space.forWork(); err != nil {
		return imagegen.Record{}, notApplied(err)
	}
	return db.store.CreateCharged(ctx, r, lease)
}
