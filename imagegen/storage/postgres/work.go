package postgres

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
)

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// flushWork brings the leases, the queue and the lines in step with the generations: what no longer runs loses its
// lease, and what is no longer queued leaves the queue. Users leave the lines only when a claim meets them (claim.go).
//
// A generation that is gone or queued again was running before, so it is among those that lose a lease.
func (s *session) flushWork(b *pgx.Batch) {
	var rested, unqueued, leased [][]byte
	var attempts, until []int64
	var queued []*generation
	for id, g := range s.rows {
		if !g.changed {
			continue
		}
		if g.was.Running() && !g.Running() {
			rested = append(rested, []byte(id))
		}
		if g.was.State == imagegen.StateQueued && g.State != imagegen.StateQueued {
			unqueued = append(unqueued, []byte(id))
		}
		if g.Running() && g.lease != 0 {
			leased, attempts, until = append(leased, []byte(id)), append(attempts, int64(g.Attempt)),
				append(until, g.lease)
		}
		if g.State == imagegen.StateQueued {
			queued = append(queued, g)
		}
	}
	if len(rested) > 0 {
		b.Queue(`delete from imagegend.leases where id = any($1)`, rested)
	}
	if len(unqueued) > 0 {
		b.Queue(`delete from imagegend.waiting where id = any($1)`, unqueued)
	}
	if len(leased) > 0 {
		b.Queue(`insert into imagegend.leases select * from unnest($1::bytea[], $2::bigint[], $3::bigint[])
 on conflict (id) do update set attempt = excluded.attempt, until = excluded.until`, leased, attempts, until)
	}
	s.enqueue(b, queued)
}

// enqueue puts generations into the queue, and the users of those that are due at once into the lines; the others get
// there when their delay is over (admit). It goes by identifiers, so that users whose work came in one batch get turns
// in the order in which it was created.
func (s *session) enqueue(b *pgx.Batch, queued []*generation) {
	if len(queued) == 0 {
		return
	}
	slices.SortFunc(queued, func(x, y *generation) int { return cmp.Compare(x.ID, y.ID) })
	var ids, users, models [][]byte
	var begun []bool
	var due []*int64
	var since []int64
	var inLine []standing
	for _, g := range queued {
		ids, users = append(ids, []byte(g.ID)), append(users, []byte(g.Account()))
		models = append(models, []byte(g.Model))
		begun, since = append(begun, g.Attempt > 0), append(since, g.CreatedAt.UnixNano())
		var at *int64
		if !g.Due.IsZero() {
			n := g.Due.UnixNano()
			at = &n
		} else {
			inLine = append(inLine, standing{g.Account(), g.Model})
		}
		due = append(due, at)
	}
	b.Queue(`insert into imagegend.waiting (id, usr, model, begun, due, since) select * from unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bool[], $5::bigint[], $6::bigint[])
 on conflict (id) do update set begun = excluded.begun, due = excluded.due`, ids, users, models, begun, due, since)
	s.queueUp(b, inLine)
}

// standing is a user in the line of a model, see claim.go.
type standing struct {
	user  imagegen.UserID
	model string
}

// columnsOfLines is a list for each column of turns.
func columnsOfLines(all []standing) (users, models [][]byte) {
	for _, st := range all {
		users, models = append(users, []byte(st.user)), append(models, []byte(st.model))
	}
	return users, models
}

// byUser is the order in which queueUp locks rows of turns.
func byUser(a, b standing) int {
	return cmp.Or(cmp.Compare(a.user, b.user), cmp.Compare(a.model, b.model))
}

// queueUp has users stand in the lines of models. A user who stands in a line already keeps that turn and has it in the
// new line as well; any other gets a later one than all that this process has given, in the order of all, which is
// sorted afterwards.
//
// An existing row is updated to what it is, which locks it: a claim that has found nothing due there may be about to
// remove it, and otherwise the work that comes now would be in no line. If it was removed, the insert makes it again.
func (s *session) queueUp(b *pgx.Batch, all []standing) {
	if len(all) == 0 {
		return
	}
	var turns []int64
	given := make(map[imagegen.UserID]int64)
	for _, st := range all { // turns first: sorting loses the order in which they came
		if given[st.user] == 0 {
			given[st.user] = s.db.turns.next(s.at.Now)
		}
	}
	slices.SortFunc(all, byUser)
	all = slices.Compact(all)
	for _, st := range all {
		turns = append(turns, given[st.user])
	}
	users, models := columnsOfLines(all)
	b.Queue(`insert into imagegend.turns as t select x.usr, x.model, coalesce((select min(turn) from imagegend.turns o where o.usr = x.usr), x.turn)
 from unnest($1::bytea[], $2::bytea[], $3::bigint[]) x(usr, model, turn) on conflict (usr, model) do update set turn = t.turn`, users, models, turns)
}

// turns gives turns. Each is later than the one before that this process gave, and about the time in nanoseconds since
// 1970, so that those of several processes are in about the right order. It is safe for concurrent use.
type turns struct {
	mu   sync.Mutex
	last int64
}

func (t *turns) next(now time.Time) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = max(t.last+1, now.UnixNano())
	return t.last
}
