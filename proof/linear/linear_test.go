package linear_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/proof/internal/figures"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

const (
	histories  = 20
	onPostgres = 10 // of them
	operations = 2000
	patience   = 20 * time.Second // of the checker; it takes milliseconds, but with bad luck years
)

func TestMemory(t *testing.T) {
	prove(t, histories, func(t *testing.T, u *run) {
		db := memory.New(nil)
		u.database = func() database { return db }
	})
}

// On disk the directory is closed twice during a history, under load, and opened again.
func TestDisk(t *testing.T) {
	prove(t, histories, func(t *testing.T, u *run) {
		dir := t.TempDir()
		var lock sync.RWMutex // held to write while nothing is open
		db, err := storage.Open(dir, nil)
		is.New(t).NoErr(err)
		u.database = func() database {
			lock.RLock()
			defer lock.RUnlock()
			return db
		}
		u.restart = func() error {
			lock.Lock()
			defer lock.Unlock()
			if err := db.Close(); err != nil {
				return err
			}
			reopened, err := storage.Open(dir, nil)
			if err == nil {
				db = reopened
			}
			return err
		}
		t.Cleanup(func() { is.New(t).NoErr(db.Close()) })
	})
}

// On PostgreSQL every other operation is another node's.
func TestPostgres(t *testing.T) {
	s := postgrestest.Start(t)
	prove(t, onPostgres, func(t *testing.T, u *run) {
		url := s.Database(t)
		var nodes [2]*postgres.DB
		for n := range nodes {
			db, err := postgres.Open(t.Context(), postgres.Config{Migrate: true, URL: url})
			is.New(t).NoErr(err)
			t.Cleanup(func() { is.New(t).NoErr(db.Close()) })
			nodes[n] = db
		}
		var turn atomic.Int64
		u.database = func() database { return nodes[turn.Add(1)%2] }
	})
}

func prove(t *testing.T, histories int, open func(*testing.T, *run)) {
	var met figures.Figures
	runs, undecided := figures.Runs(histories), 0
	for seed := figures.Seed(); met.Get("histories") < runs; seed++ {
		passed := t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			u := &run{}
			open(t, u)
			u.make(t, seed)
			switch u.check() {
			case porcupine.Ok:
				u.count(&met)
			case porcupine.Illegal:
				t.Errorf("no order explains the answers; see %s", u.draw())
				t.Errorf("PROOF_SEED=%d PROOF_RUNS=1 go test ./proof/linear -run %s -count=1 asks the same again; what meets what is up to the machine",
					seed, t.Name()[:len(t.Name())-len(fmt.Sprint("/seed_", seed))])
			default: // it proves nothing, and another takes its place
				undecided++
			}
		})
		if undecided > 1+runs/10 {
			t.Fatalf("of %d histories the checker could not decide %d within %v", met.Get("histories")+undecided,
				undecided, patience)
		}
		if !passed {
			break
		}
	}
	met.Add("undecided", undecided)
	met.Require(t, 0.05, "charged", "settled", "granted", "read", "insufficient", "refused", "lost", "not applied")
	met.Report(t, "linear")
}

// make has 8 to 32 clients at once, at 4 to 8 accounts.
func (u *run) make(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	n := 8 + r.IntN(25)
	u.accounts = make([]ids, max(4, n/3))
	is := is.New(t)
	for a := range u.accounts {
		is.NoErr(enrol(t.Context(), u.database(), a))
	}
	u.left.Store(operations)
	restarts := map[int64]bool{operations / 3: true, 2 * operations / 3: true}
	var clients sync.WaitGroup
	for c := range n {
		clients.Go(func() { u.client(c, rand.New(rand.NewPCG(seed, uint64(c)+1)), restarts) })
	}
	clients.Wait()
	u.late.Wait()
	for a := range u.accounts { // by now every answer that was lost has been given, or never will be
		u.do(n, input{kind: balance, account: a}, r, false)
	}
	is.NoErr(u.err)
	u.compareUse(t)
	report, err := u.database().Audit(t.Context())
	is.NoErr(err)
	for _, v := range report.Violations {
		if v.Rule != "image bytes" { // nobody has drawn any
			t.Error(v)
		}
	}
}

// compareUse compares what the ledger says of each member with the journal of who pays.
func (u *run) compareUse(t *testing.T) {
	db := u.database()
	for a := range u.accounts {
		const all = 1 << 30
		entries, err := db.History(t.Context(), userOf(a), 0, all)
		is.New(t).NoErr(err)
		fact := func(ok bool, format string, args ...any) {
			if !ok {
				t.Errorf(format, args...)
			}
		}
		witness.ReadJournal(entries, fact).Members(t.Context(), db, userOf(a), []imagegen.UserID{memberOf(a)}, fact)
	}
}

// check asks porcupine.
func (u *run) check() porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(books, u.applied(), patience)
}

// applied is the history without what changed nothing and said nothing.
func (u *run) applied() []porcupine.Operation {
	return slices.DeleteFunc(slices.Clone(u.history), func(o porcupine.Operation) bool {
		return o.Output.(output).answer == notApplied
	})
}

// draw makes a picture of the history, and returns its file.
func (u *run) draw() string {
	_, info := porcupine.CheckOperationsVerbose(books, u.applied(), patience)
	f, err := os.CreateTemp("", "imagegend-linear-*.html")
	if err == nil {
		defer f.Close()
		err = porcupine.Visualize(books, info, f)
	}
	if err != nil {
		return err.Error()
	}
	return f.Name()
}

// count adds what the history met.
func (u *run) count(met *figures.Figures) {
	met.Add("histories", 1)
	met.Add("operations", len(u.history))
	for _, o := range u.history {
		met.Add(class(o.Input.(input), o.Output.(output)), 1)
	}
	met.Add("overlapping", overlapping(u.history))
}

func class(in input, out output) string {
	switch {
	case out.answer == lost, out.answer == notApplied, out.answer == insufficient:
		return string(out.answer)
	case out.answer != done:
		return "refused"
	}
	return map[kind]string{charge: "charged", create: "charged", settle: "settled", finish: "settled",
		grant: "granted", revoke: "revoked", balance: "read", pay: "sponsored", leave: "left"}[in.kind]
}

// overlapping counts the operations that began before the one before them had been answered.
func overlapping(history []porcupine.Operation) (n int) {
	var latest int64
	for _, o := range history {
		if o.Call < latest {
			n++
		}
		latest = max(latest, o.Return)
	}
	return n
}
