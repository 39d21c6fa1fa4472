package crash_test

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

// setup is what the databases of a world are.
type setup string

const (
	joint       setup = "joint"        // one that commits generations and charges together
	outside     setup = "outside"      // two that share no transaction
	onDisk      setup = "disk"         // one in a directory, which each process opens anew
	diskOutside setup = "disk-outside" // the same with other books
	nodes       setup = "postgres"     // one that each process opens for itself, beside the others
)

var setups = []setup{joint, outside, onDisk, diskOutside}

func (p setup) joins() bool   { return p != outside && p != diskOutside }
func (p setup) reopens() bool { return p == onDisk || p == diskOutside }

// faults are those at which the setups differ. Only one process at a time can have a directory open;
// and to one that lives on it is a database like the others.
func (p setup) faults() []fault {
	if p.reopens() {
		return []fault{dies, diesLate}
	}
	return []fault{refuses, fails, loses, dies, diesLate, halts, haltsLate}
}

// server is that of all worlds on PostgreSQL.
var server *postgrestest.Server

// database is all that a process keeps.
type database interface {
	imagegen.TxStore
	imagegen.CreditAdmin
	imagegen.ImageStore
	imagegen.Spool
	imagegen.Inspector
	imagegen.Timekeeper
	imagegen.FeedKeeper
}

// mount makes the databases of a new world.
func (w *world) mount() {
	w.files = memory.New(&memory.Options{Now: w.now})
	w.db = w.files
	if w.setup == nodes {
		w.url = server.Database(w.T)
		w.db = w.node()
	}
	if w.reopens() {
		w.dir = newDirectory(w.T)
		w.db = w.open()
		w.Cleanup(w.close)
	}
	w.fact(w.db.KeepFeed(context.Background(), true) == nil, "the feed cannot be turned on")
	if w.books = w.db; !w.joins() {
		w.books = memory.New(nil)
	}
	w.shelf = witness.NewShelf(w.db, w.db)
}

// node is what a process works on. Those on PostgreSQL have each its own way there, and share the files.
func (w *world) node() database {
	if w.setup != nodes {
		return w.db
	}
	db, err := postgrestest.Open(postgres.Config{URL: w.url, Now: w.now, KeepFor: -1, Connections: 4}, w.files)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		if err := db.Close(); err != nil {
			w.Error(err)
		}
	})
	return db
}

func (w *world) open() database {
	db, err := storage.Open(w.dir, &storage.Options{MinFree: roomy.MinFree, Now: w.now})
	if err != nil {
		w.Fatal(err)
	}
	return db
}

func (w *world) close() {
	if err := w.db.(*storage.DB).Close(); err != nil {
		w.Error(err)
	}
}

// remount opens the database as a process does that finds what another has left.
func (w *world) remount() {
	if !w.reopens() {
		return
	}
	w.close()
	w.db = w.open()
	w.shelf.ImageStore, w.shelf.Spool = w.db, w.db
	if w.joins() {
		w.books = w.db
	}
}

// leftovers lists the files in the directory that a start should have removed.
func (w *world) leftovers() []string {
	spooled, err := filepath.Glob(filepath.Join(w.dir, "spool", "*"))
	if err != nil {
		w.Error(err)
	}
	unfinished, err := filepath.Glob(filepath.Join(w.dir, "tmp", "*"))
	if err != nil {
		w.Error(err)
	}
	return slices.Concat(spooled, unfinished)
}
