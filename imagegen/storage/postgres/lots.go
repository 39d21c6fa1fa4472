package postgres

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

// firstLots is how many lots of a user are read at first: few charges take credits from more.
const firstLots = 8

// line is the spendable lots of a user in one of their orders, as far as they were read. The lots themselves are in
// accountRows.lots, where the session may have changed them or added others. So what is known for certain of the
// order is its beginning, up to the last lot that was read; behind that there may be lots that only the database knows.
type line struct {
	order func(a, b ledger.Lot) int // the same order as in where
	where string                    // what a query for the line ends with
	read  int                       // how many were asked for; 0: nothing was read
	last  ledger.Lot                // the last one that came
	whole bool                      // there are no others in the database
}

// The two orders. The columns of each are those of an index over live lots, so that the first of a line are found
// without a look at the others. A lot that never expires has NULL, which comes last.
var (
	inTurn       = line{order: ledger.Lot.Compare, where: `live order by priority, expires_at, promo desc, effective_at, lot`}
	asTheyExpire = line{order: ledger.Lot.CompareExpiry,
		where: `live and expires_at is not null order by expires_at, lot`}
)

// Lot implements ledger.Tx. That there is none is remembered.
func (s *session) Lot(u imagegen.UserID, number uint64) (ledger.Lot, bool) {
	a := s.account(u)
	if a.lots[number] == nil {
		s.query(s.scanLots(nil), inLots.from()+` where usr = $1 and lot = $2`, u, number)
	}
	if a.lots[number] == nil {
		a.lots[number] = new(lot)
	}
	return a.lots[number].Lot, a.lots[number].known
}

// scanLots takes lots into the session. seen is called with each lot as the database has it, in the order of the query;
// it may be nil.
func (s *session) scanLots(seen func(ledger.Lot)) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		return inLots.scan(rows, func(l *ledger.Lot) {
			s.takeLot(*l)
			if seen != nil {
				seen(*l)
			}
		})
	}
}

// takeLot takes one lot into the session, unless the session has it already: what it has is as new, or newer. A session
// that writes does not take one whose account it has not locked.
func (s *session) takeLot(l ledger.Lot) {
	a := s.accounts[l.User]
	if a == nil && s.writes {
		return
	}
	if a == nil {
		a = newAccount(l.User)
		s.accounts[l.User] = a
	}
	if former := a.lots[l.Number]; former == nil || !former.known {
		a.lots[l.Number] = &lot{Lot: l, known: true}
	}
}

// Lots implements ledger.Tx.
func (s *session) Lots(u imagegen.UserID) iter.Seq[ledger.Lot] {
	return func(yield func(ledger.Lot) bool) {
		a := s.account(u)
		s.query(s.scanLots(nil), inLots.from()+` where usr = $1`, u)
		for _, l := range a.sorted(func(l *lot) bool { return l.known }, byNumber) {
			if !yield(l) {
				return
			}
		}
	}
}

func byNumber(a, b ledger.Lot) int { return cmp.Compare(a.Number, b.Number) }

// Spendable implements ledger.Tx.
func (s *session) Spendable(u imagegen.UserID) iter.Seq[ledger.Lot] {
	a := s.account(u)
	return s.along(a, &a.spend, func(l *lot) bool { return l.Remaining > 0 })
}

// Expiring implements ledger.Tx.
func (s *session) Expiring(u imagegen.UserID) iter.Seq[ledger.Lot] {
	a := s.account(u)
	return s.along(a, &a.expire, func(l *lot) bool { return l.Remaining > 0 && !l.Expires.IsZero() })
}

// along goes over those lots of a line for which stands holds by now, in its order, and reads on when it comes to the
// end of what is known for certain. Lots that this session has made, or put credits back into, come in their places.
func (s *session) along(a *accountRows, of *line, stands func(*lot) bool) iter.Seq[ledger.Lot] {
	return func(yield func(ledger.Lot) bool) {
		var from *ledger.Lot // the last that was yielded
		for {
			for _, l := range a.sorted(stands, of.order) {
				if from != nil && of.order(l, *from) <= 0 {
					continue
				}
				if !of.whole && (of.read == 0 || of.order(l, of.last) > 0) {
					break // a lot that was not read may come before it
				}
				if !yield(l) {
					return
				}
				from = &l
			}
			if of.whole {
				return
			}
			s.readOn(a, of)
		}
	}
}

// readOn reads eight times as much of a line as before. It begins at the front again, which is simpler than to go on
// behind a lot by as many as five columns; as the steps grow, little is read twice.
func (s *session) readOn(a *accountRows, of *line) {
	n, came := max(firstLots, 8*of.read), 0
	s.query(s.scanLots(func(l ledger.Lot) { came++; of.last = l }),
		inLots.from()+` where usr = $1 and `+of.where+` limit $2`, a.User, n)
	of.read, of.whole = n, came < n
}

// sorted returns the lots that are known and for which stands holds, in an order.
func (a *accountRows) sorted(stands func(*lot) bool, order func(a, b ledger.Lot) int) []ledger.Lot {
	var all []ledger.Lot
	for _, l := range a.lots {
		if l.known && stands(l) {
			all = append(all, l.Lot)
		}
	}
	slices.SortFunc(all, order)
	return all
}

// mostDue is the most accounts that one transaction locks to write off what has expired.
const mostDue = 500

// Due implements ledger.Tx: up to mostDue users, those first whose credits expired first. In a session that writes it
// locks them all before it yields any, by one statement in the order in which everybody locks: one by one, they would
// be locked in the order of their expiry. It passes over those that others have locked. By then somebody else may have
// written off what has expired; the caller looks at the account again.
func (s *session) Due(at time.Time) iter.Seq[imagegen.UserID] {
	return func(yield func(imagegen.UserID) bool) {
		due := identifiers[imagegen.UserID](s,
			`select usr from imagegend.accounts where expires_at <= $1 order by expires_at, usr limit $2`, at, mostDue)
		if s.writes && len(due) > 0 {
			s.query(s.scanAccounts, readAccounts+s.locked()+" skip locked", list(due...))
		}
		for _, u := range due {
			if s.writes && s.accounts[u] == nil {
				continue // somebody holds it
			}
			if !yield(u) {
				return
			}
		}
	}
}
