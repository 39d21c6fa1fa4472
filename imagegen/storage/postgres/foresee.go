package postgres

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/transfer"
)

// foresee reads, in one round trip, all rows that the replay of some entries of the journal will ask for. Without it
// each entry of a move would take several. Rows that do not exist yet are noted as such, so that they are not asked for
// either; missing accounts are made, so that they can be locked.
//
// An imagegen.Violation: an entry cannot be read.
func (s *session) foresee(rows []transfer.Row) error {
	f := foreseen{lots: make(map[lotOf]bool), usage: make(map[ledger.UsageKey]bool)}
	for _, r := range rows {
		if r.Bucket != transfer.Journal {
			continue
		}
		e, err := ledger.DecodeEntry(r.Value)
		if err != nil {
			return imagegen.Violation{Rule: "journal entry", Subject: fmt.Sprintf("%q", r.Key), Detail: err.Error()}
		}
		f.addEntry(e)
	}
	if len(f.users) == 0 {
		return nil
	}
	var b pgx.Batch
	f.queueReads(s, &b)
	return s.send(&b)
}

// foreseen is what a replay asks for. users and charges may name one several times.
type foreseen struct {
	users   []imagegen.UserID
	charges []imagegen.ChargeID
	lots    map[lotOf]bool
	usage   map[ledger.UsageKey]bool // with the totals of their keys
}

// lotOf names a lot of a user.
type lotOf struct {
	user   imagegen.UserID
	number uint64
}

// addEntry notes what an entry is about: its account, the lots that it posts to (not those that it makes), its charge,
// and the rows of usage in which it counts.
func (f *foreseen) addEntry(e ledger.Entry) {
	f.users = append(f.users, e.User)
	for _, p := range e.Postings {
		f.lots[lotOf{e.User, p.Lot}] = true
	}
	if e.Charge != "" {
		f.charges = append(f.charges, e.Charge)
	}
	for _, row := range e.Bills() {
		f.usage[row] = true
	}
}

// queueReads queues the reads. Accounts come first, since their locks keep all other rows as they are. What is not
// found stays as it is set here: empty and not known.
func (f *foreseen) queueReads(s *session, b *pgx.Batch) {
	users, charges := unique(f.users), unique(f.charges)
	b.Queue(`insert into imagegend.accounts (usr) select * from unnest($1::text[]) u(usr) on conflict do nothing`, users)
	b.Queue(readAccounts+s.locked(), users).Query(s.scanAccounts)
	for _, id := range f.charges {
		s.charges[id] = new(charge)
	}
	b.Queue(readCharges, charges).Query(s.scanCharges)
	f.askLots(s, b)
	f.askUsage(s, b)
}

func (f *foreseen) askLots(s *session, b *pgx.Batch) {
	var users []string
	var numbers []int64
	for l := range f.lots {
		users, numbers = append(users, string(l.user)), append(numbers, int64(l.number))
	}
	b.Queue(`select `+inLots.of("l")+` from unnest($1::text[], $2::bigint[]) x(usr, lot) join imagegend.lots l on l.usr = x.usr and l.lot = x.lot`,
		users, numbers).Query(s.scanLots(nil))
}

func (f *foreseen) askUsage(s *session, b *pgx.Batch) {
	var users, keys, models []string
	var days []time.Time
	for k := range f.usage {
		users, keys, models, days = append(users, string(k.User)), append(keys, string(k.Key)),
			append(models, string(k.Model)), append(days, k.Day)
		s.usage[k] = &usage{Usage: ledger.Usage{UsageKey: k}}
		s.totals[keyOf{k.User, k.Key}] = &total{KeyTotal: ledger.KeyTotal{User: k.User, Key: k.Key}}
	}
	b.Queue(`select `+inUsage.of("u")+` from unnest($1::text[], $2::text[], $3::date[], $4::text[]) x(usr, key, day, model)
 join imagegend.usage u on u.usr = x.usr and u.key = x.key and u.day = x.day and u.model = x.model`,
		users, keys, days, models).Query(s.scanUsage(func(ledger.UsageKey) {}))
	b.Queue(totalsOfKeys, users, keys).Query(s.scanTotals)
}
