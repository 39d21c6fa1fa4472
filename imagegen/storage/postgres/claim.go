package postgres

import (
	"cmp"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/fair"
)

// The queue is kept in two tables. waiting has a row for each queued generation. turns holds the lines, one for each
// model: every user who has work for that model which is due stands in it, in the order of the users' turns. A user has
// one turn, which is the same in all lines. So a claim reads the fronts of the lines and never the whole queue. A row
// of turns may outlast the work, until a claim meets it; it is never missing, or the work would not be found.

// candidate is a user whose work may be claimed. Due has one ticket more of each model than a claim can take.
type candidate struct {
	fair.Candidate[ticket]
	turn int64 // the user with the lowest has waited longest
}

// ticket is a queued generation that is due.
type ticket struct {
	id    imagegen.GenerationID
	user  imagegen.UserID
	model string
	begun int // 1: by an attempt before, which did not finish it
}

// byTurn orders the work of one user: what was begun before comes first, then the lower identifier.
func byTurn(a, b ticket) int {
	return cmp.Or(cmp.Compare(b.begun, a.begun), cmp.Compare(a.id, b.id))
}

// pick chooses up to d.Most queued generations, see fair.Share. A user who is served gets a new turn, and leaves the
// line of a model of which nothing is left.
//
// The fronts of the lines stay locked until the transaction ends, so claims of other processes serve other users.
func (s *session) pick(d imagegen.ClaimRequest) (picked []ticket) {
	served := make(map[imagegen.UserID]int64)
	var done []standing // users who have nothing left for a model
	fair.Share(d, s.candidates(d), byTurn, func(c *fair.Candidate[ticket], model string, t ticket) {
		c.Due[model] = c.Due[model][1:]
		picked = append(picked, t)
		if len(c.Due[model]) == 0 {
			done = append(done, standing{c.User, model})
		}
		served[c.User] = s.db.turns.next(s.at.Now)
	})
	s.giveTurns(served)
	s.leave(done)
	return picked
}

// keepInLine puts users back in line whose work was picked and not claimed, since another transaction was busy with its
// record. pick may just have taken such a user out of the line, as if nothing was left; then nobody would find the
// work any more.
func (s *session) keepInLine(picked []ticket, claimed []imagegen.Record) {
	var again []standing
	for _, t := range picked {
		if !slices.ContainsFunc(claimed, func(r imagegen.Record) bool { return r.ID == t.id }) {
			again = append(again, standing{t.user, t.model})
		}
	}
	if len(again) > 0 {
		var b pgx.Batch
		s.queueUp(&b, again)
		s.changes++
		s.must(s.send(&b))
	}
}

// candidates returns the users who may get something, in the order of their turns. Of each line it takes the front: as
// many users as the claim has records to give, and as many more as hold slots, since any of those may be passed over.
//
// Users in a line for which they have nothing due would take the places of users behind them. So they are taken out,
// and the fronts are read anew, until there are none of them; each round shortens the lines, so there is a last one.
func (s *session) candidates(d imagegen.ClaimRequest) (users []*fair.Candidate[ticket]) {
	for {
		stand, by := s.lines(d)
		if len(stand) == 0 {
			return nil
		}
		if vain := s.due(d, stand, by); len(vain) > 0 {
			s.leave(vain)
			continue
		}
		for _, c := range slices.SortedFunc(maps.Values(by), func(a, b *candidate) int {
			return cmp.Compare(a.turn, b.turn)
		}) {
			if fair.Allows(d, c.Held) {
				users = append(users, &c.Candidate)
			}
		}
		return users
	}
}

// lines locks the fronts of the lines of all models with places; by has each of the users once. Users whom another
// claim has locked are passed over, not waited for.
func (s *session) lines(d imagegen.ClaimRequest) (stand []standing, by map[imagegen.UserID]*candidate) {
	open, arg := everyModel, any(nil)
	if d.Places != nil {
		open, arg = theseModels, modelsWithPlaces(d)
	}
	by = make(map[imagegen.UserID]*candidate)
	var user, model string
	var turn int64
	s.scan(func() {
		u := imagegen.UserID(user)
		if by[u] == nil {
			by[u] = &candidate{fair.Candidate[ticket]{User: u, Held: d.Held[u], Due: make(map[string][]ticket)}, turn}
		}
		by[u].turn = min(by[u].turn, turn)
		stand = append(stand, standing{u, string(model)})
	}, []any{&user, &model, &turn}, `with recursive m as (`+open+
		`) select f.usr, f.model, f.turn from m cross join lateral
 (select usr, model, turn from imagegend.turns t where t.model = m.model order by turn limit $1 for update skip locked) f`,
		max(d.Most, 1)+len(d.Held), arg)
	return stand, by
}

// The models whose lines are read. $2 names them; it is NULL for every model. The latter is a loose index scan: it
// jumps from one model to the next in the index, so that its cost does not grow with the length of the lines.
const (
	theseModels = `select unnest($2::text[]) as model`
	everyModel  = `(select model from imagegend.turns where $2::text[] is null order by model limit 1) union all
 select (select model from imagegend.turns t where t.model > m.model order by model limit 1) from m where m.model is not null`
)

// modelsWithPlaces returns the models of which anything may begin, in the order in which every claim locks their lines.
func modelsWithPlaces(d imagegen.ClaimRequest) []string {
	models := []string{}
	for _, model := range slices.Sorted(maps.Keys(d.Places)) {
		if d.Places[model] > 0 {
			models = append(models, string(model))
		}
	}
	return models
}

// due reads the work that is due of users in the lines, one more for each line than the claim can take: the extra one
// shows whether something is left. Where nothing is due, the user stands in that line in vain.
func (s *session) due(d imagegen.ClaimRequest, stand []standing, by map[imagegen.UserID]*candidate) (vain []standing) {
	users, models := columnsOfLines(stand)
	var user, model string
	var id *string
	var begun *int
	s.scan(func() {
		u, m := imagegen.UserID(user), string(model)
		if id == nil {
			vain = append(vain, standing{u, m})
			return
		}
		by[u].Due[m] = append(by[u].Due[m], ticket{imagegen.GenerationID(*id), u, m, *begun})
	}, []any{&user, &model, &id, &begun},
		`select x.usr, x.model, w.id, w.begun::int from unnest($1::text[], $2::text[]) x(usr, model) left join lateral
 (select id, begun from imagegend.waiting w where w.usr = x.usr and w.model = x.model and due is null order by begun desc, id limit $3) w on true
 order by x.usr, x.model, w.begun desc, w.id`, users, models, max(d.Most, 1)+1)
	return vain
}

// leave takes users out of lines that this transaction has locked, so that nobody can have brought work meanwhile:
// queueUp waits for the lock.
func (s *session) leave(all []standing) {
	if len(all) == 0 {
		return
	}
	users, models := columnsOfLines(all)
	s.changes++
	s.exec(`delete from imagegend.turns t using unnest($1::text[], $2::text[]) x(usr, model) where t.usr = x.usr and t.model = x.model`, users, models)
}

// giveTurns gives users their new turns, in all lines in which they stand. Lines of models without places were not
// locked before; two claims that meet there in the wrong order are a deadlock, and one of them runs again.
func (s *session) giveTurns(served map[imagegen.UserID]int64) {
	if len(served) == 0 {
		return
	}
	var users []string
	var turns []int64
	for u, turn := range served {
		users, turns = append(users, string(u)), append(turns, turn)
	}
	s.changes++
	s.exec(`update imagegend.turns t set turn = x.turn from unnest($1::text[], $2::bigint[]) x(usr, turn) where t.usr = x.usr`, users, turns)
}
