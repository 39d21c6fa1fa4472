package postgres

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
)

// flushWork brings the leases, the lines and the queue in step with the generations: what no longer runs loses its
// lease, and what is no longer queued leaves the queue. Users leave the lines only when a claim meets them (claim.go).
//
// A generation that is gone or queued again was running before, so it is among those that lose a lease.
func (s *session) flushWork(b *pgx.Batch) {
	var rested, leased []string
	var attempts []int64
	var until []time.Time
	var queued []*generation
	left := s.aside
	for id, g := range s.rows {
		if !g.changed {
			continue
		}
		if g.was.Running() && !g.Running() {
			rested = append(rested, string(id))
		}
		if g.was.State == imagegen.StateQueued && g.State != imagegen.StateQueued {
			left = append(left, string(id))
		}
		if g.Running() && !g.lease.IsZero() {
			leased, attempts, until = append(leased, string(id)), append(attempts, int64(g.Attempt)),
				append(until, g.lease)
		}
		if g.State == imagegen.StateQueued {
			queued = append(queued, g)
		}
	}
	if len(rested) > 0 {
		b.Queue(`delete from imagegend.leases where id = any($1)`, rested)
	}
	if len(leased) > 0 {
		b.Queue(`insert into imagegend.leases select * from unnest($1::text[], $2::bigint[], $3::timestamptz[])
 on conflict (id) do update set attempt = excluded.attempt, until = excluded.until`, leased, attempts, until)
	}
	slices.SortFunc(queued, func(x, y *generation) int { return cmp.Compare(x.ID, y.ID) })
	s.stand(b, queued)
	s.flushQueue(b, queued, left)
}

// stand has the users of generations that are due at once stand in the lines; the others get there when their delay is
// over (admit). It goes by identifiers, so that users whose work came in one batch get turns in the order in which it
// was created.
func (s *session) stand(b *pgx.Batch, queued []*generation) {
	var inLine []standing
	for _, g := range queued {
		if g.Due.IsZero() {
			inLine = append(inLine, standing{g.Account(), g.Model})
		}
	}
	s.queueUp(b, inLine)
}

// lengthParts is in how many parts the length of the whole queue is kept.
const lengthParts = 16

// flushQueue puts generations into the queue, takes others out, and keeps its length. It counts the rows that came and
// went, and not those that were sent: what was put aside is queued, and not in the queue. What comes in a transaction
// of the host's is counted once a claim has met it (admit): until the host commits, everybody would wait for its
// length.
//
// The first to change a length holds up the others until its commit, so this comes behind the lines, whose
// rows a claim holds for longer. All lock lengths in the same order.
func (s *session) flushQueue(b *pgx.Batch, queued []*generation, left []string) {
	if len(queued)+len(left)+len(s.admitted) == 0 {
		return
	}
	var ids, users, models []string
	var begun []bool
	var due []*time.Time
	var since []time.Time
	for _, g := range queued {
		ids, users = append(ids, string(g.ID)), append(users, string(g.Account()))
		models = append(models, string(g.Model))
		begun, since = append(begun, g.Attempt > 0), append(since, g.CreatedAt)
		due = append(due, timeOrNull(g.Due))
	}
	b.Queue(`with went as (delete from imagegend.waiting where id = any($7) returning usr, counted),
 came as (insert into imagegend.waiting (id, usr, model, begun, due, since, counted) select *, not $9::bool from unnest($1::text[], $2::text[], $3::text[], $4::bool[], $5::timestamptz[], $6::timestamptz[])
 on conflict (id) do update set begun = excluded.begun, due = excluded.due returning id, usr, counted),
 changed as (select usr, -1 as n from went where counted union all select usr, 1 from came where counted and not exists (select from imagegend.waiting w where w.id = came.id)
 union all select usr, 1 from unnest($10::text[]) x(usr))
 insert into imagegend.queue_lengths as l (usr, part, n) select usr, part, sum(n) from (select usr, 0 as part, n from changed union all select '', $8, n from changed) x
 group by usr, part having sum(n) <> 0 order by usr, part on conflict (usr, part) do update set n = l.n + excluded.n`,
		ids, users, models, begun, due, since, left, rand.IntN(lengthParts), s.hosted, s.admitted)
}

// standing is a user in the line of a model, see claim.go.
type standing struct {
	user  imagegen.UserID
	model string
}

// columnsOfLines is a list for each column of turns.
func columnsOfLines(all []standing) (users, models []string) {
	for _, st := range all {
		users, models = append(users, string(st.user)), append(models, string(st.model))
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
 from unnest($1::text[], $2::text[], $3::bigint[]) x(usr, model, turn) on conflict (usr, model) do update set turn = t.turn`, users, models, turns)
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
