package postgres

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
)

// mostEnded is the most sign-ins that one transaction ends by their age.
const mostEnded = 1000

// EndSignInsAged implements [account.LoginStore]. Those that are over are found by an index of the time that is
// compared, so its cost does not grow with the others. It takes as many transactions as it needs, each of which passes
// over what another process is ending, and none of which holds up an act.
func (db *DB) EndSignInsAged(ctx context.Context, idle, whole time.Duration) error {
	at := db.books.Read()
	for _, of := range []struct {
		column string
		age    time.Duration
	}{{"seen_at", idle}, {"created_at", whole}} {
		for _, span := range at.Aged(of.age) {
			for n := mostEnded; n == mostEnded; {
				err := db.work(ctx, func(s *session) error {
					n = s.endSignIns(of.column, span)
					return nil
				})
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// endSignIns ends up to mostEnded sign-ins with a time in a span, and returns how many.
func (s *session) endSignIns(column string, span clock.Span) (n int) {
	var one int
	s.scan(func() { n++ }, []any{&one}, `with over as (select hash from imagegend.sign_ins where `+column+` > $1 and `+
		column+` <= $2 order by `+column+` limit $3 for update skip locked)
 delete from imagegend.sign_ins s using over where s.hash = over.hash returning 1`, span.After, span.UpTo, mostEnded)
	return n
}
