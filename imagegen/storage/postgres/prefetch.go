package postgres

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// need is what a call will ask for, so that it can be read in the first round trip. It matters for speed, and for the
// order in which locks are taken, but not for the result: what is not named here is read when it is asked for.
type need struct {
	users   []imagegen.UserID       // whose accounts are locked; those of charges are as well
	charges []imagegen.ChargeID     // with their accounts, their lots and their row of usage
	rows    []imagegen.GenerationID // that are changed, and so locked
	fresh   []imagegen.GenerationID // that should not be there yet
	holders []holder                // idempotency keys
	askers  []imagegen.UserID       // users who ask, to be read
	keys    []imagegen.KeyID        // API keys that ask, to be read
	billed  map[keyOf]bool          // users and their keys that are to be charged
	kept    []imagegen.UserID       // users whom an act looks at
	refs    []string                // references that may be taken
}

// merge adds what another call of the batch needs.
func (n *need) merge(o need) {
	n.users, n.charges = append(n.users, o.users...), append(n.charges, o.charges...)
	n.rows, n.fresh = append(n.rows, o.rows...), append(n.fresh, o.fresh...)
	for k := range o.billed {
		if n.billed == nil {
			n.billed = make(map[keyOf]bool)
		}
		n.billed[k] = true
	}
	n.kept, n.refs = append(n.kept, o.kept...), append(n.refs, o.refs...)
	n.holders, n.askers, n.keys = append(n.holders, o.holders...), append(n.askers, o.askers...),
		append(n.keys, o.keys...)
}

// holder is an idempotency key of a user, by its hash.
type holder struct {
	user imagegen.UserID
	key  [32]byte
}

// unique returns each of some identifiers once, sorted, as one value for a query. It changes nothing in all.
func unique[S ~string](all []S) []string {
	return list(slices.Compact(slices.Sorted(slices.Values(all)))...)
}

// The reads of the first round trip. Locks come first, in the order in which everybody takes them: accounts, then
// generations. Under READ COMMITTED each statement sees what was committed before it began, so what is read behind the
// locks is as the transaction that held them before has left it.
//
// Where several rows are looked up, each has a lateral query with a limit or an offset, which the planner cannot turn
// round: its statistics may be old, and a plan that reads a whole table would be right by those.
var (
	lockAccounts = inAccounts.from() +
		` where usr = any($1::text[] || array(select usr from imagegend.charges where id = any($2::text[]))) and usr <> all($3::text[]) order by usr for update`
	firstOfLots = `select ` + inLots.of("l") + ` from unnest($1::text[]) u(usr) cross join lateral
 (select * from imagegend.lots l where l.usr = u.usr and ` + inTurn.where + ` limit $2) l`
	heldLots = `select ` + inLots.of("l") + ofCharges + ` cross join lateral unnest(t.lots) x(lot) cross join lateral
 (select * from imagegend.lots l where l.usr = c.usr and l.lot = x.lot limit 1) l where c.id = any($1) and c.open`
)

const now = `select clock_timestamp()`

var lastHolders = `select ` + wholeRows + ` from unnest($1::text[], $2::bytea[]) x(usr, key) cross join lateral
 (select * from imagegend.generations g where g.usr = x.usr and g.idempotency_hash = x.key and g.id <> all($3::text[]) order by nth desc limit 1) t`

// prefetch queues the reads of the first round trip. Their order matters: the locks come first, and last the mark of
// the clock and the time, which is judged by it. The time is read once all locks are held, so that of two transactions
// of which one waited for the other, the later one also has the later time.
//
// What is asked for is noted as not being there until it is found, so that nobody asks again.
func (s *session) prefetch(b *pgx.Batch, n need) {
	users := unique(n.users)
	if len(users) > 0 || len(n.charges) > 0 {
		b.Queue(lockAccounts, users, unique(n.charges), list(s.past...)).Query(s.scanAccounts)
	}
	if s.acts { // behind the accounts, so that nobody has this lock who waits long for one of them
		lockActs(b)
	}
	if ids := unique(slices.Concat(n.rows, n.fresh)); len(ids) > 0 {
		for _, id := range slices.Concat(n.rows, n.fresh) {
			s.rows[id] = new(generation)
		}
		b.Queue(readRows+s.locked(), ids).Query(s.scanRows)
	}
	if len(users) > 0 {
		b.Queue(firstOfLots, users, firstLots).Query(s.scanFirst(users))
	}
	if len(n.charges) > 0 {
		for _, id := range n.charges {
			s.charges[id] = new(charge)
		}
		b.Queue(readCharges, unique(n.charges)).Query(s.scanCharges)
		b.Queue(heldLots, unique(n.charges)).Query(s.scanLots(nil))
	}
	s.askUsage(b, n)
	s.askHolders(b, n.holders)
	s.queueAskers(b, n)
	s.queueKept(b, n)
	b.Queue(inClock.from()).Query(s.scanMark)
	if s.wait > 0 {
		b.Queue(waitFor(0))
	}
	b.Queue(now).Query(s.scanNow)
}

// queueKept queues the reads of what acts look at.
func (s *session) queueKept(b *pgx.Batch, n need) {
	if len(n.kept) > 0 {
		for _, u := range n.kept {
			s.kept.note(place{tables.Users.Name(), string(kv.Key(string(u)))}, nil)
		}
		b.Queue(usersByID, unique(n.kept)).Query(keptUsers.take(&s.kept, func(*imagegen.User, []byte) {}))
	}
	if len(n.refs) > 0 {
		for _, ref := range n.refs {
			s.refs[ref] = ledger.Place{}
		}
		var user, ref string
		var p ledger.Place
		b.Queue(`select ref, usr, seq from imagegend.entries where ref = any($1)`, unique(n.refs)).
			Query(func(rows pgx.Rows) error {
				return each(rows, func() error {
					s.refs[ref] = ledger.Place{User: imagegen.UserID(user), Seq: p.Seq}
					return nil
				}, &ref, &user, &p.Seq)
			})
	}
}

// scanFirst takes the first spendable lots of some users, and notes how far the lines of all of them were read; a user
// with fewer lots than were asked for has no others.
func (s *session) scanFirst(users []string) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		came := make(map[imagegen.UserID]int)
		if err := s.scanLots(func(l ledger.Lot) {
			if a := s.accounts[l.User]; a != nil {
				came[l.User]++
				a.spend.last = l
			}
		})(rows); err != nil {
			return err
		}
		for _, u := range users {
			if a := s.accounts[imagegen.UserID(u)]; a != nil {
				a.spend.read, a.spend.whole = firstLots, came[a.User] < firstLots
			}
		}
		return nil
	}
}

// scanNow takes the database's time, lets the ledger's clock judge it, and gives the session the reading that all of
// its calls use. If another process has confirmed the clock, the mark that was read before has a later epoch, and this
// process believes the clock as well.
func (s *session) scanNow(rows pgx.Rows) error {
	var at time.Time
	err := each(rows, func() error { s.db.clock.saw(at); return nil }, &at)
	if s.mark.read {
		s.db.books.Corrected(s.mark.Epoch)
	}
	s.at = s.db.books.Read()
	return err
}

// askHolders queues the reads of who holds some idempotency keys, each asked for once.
func (s *session) askHolders(b *pgx.Batch, all []holder) {
	if len(all) == 0 {
		return
	}
	var users []string
	var keys [][]byte
	seen := make(map[holder]bool)
	for _, h := range all {
		if !seen[h] {
			users, keys = append(users, string(h.user)), append(keys, slices.Clone(h.key[:]))
		}
		seen[h], s.holders[h] = true, ""
	}
	b.Queue(lastHolders, users, keys, list[string]()).Query(s.scanHolders)
}
