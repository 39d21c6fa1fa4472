package postgres

import (
	"cmp"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
)

// candidate is a user whose work may be claimed.
type candidate struct {
	user imagegen.UserID
	turn int64
	held int
	due  map[string][]ticket // of each model, those that come first
	all  map[string]bool     // whether they are all
}

// ticket is the place of a queued generation.
type ticket struct {
	id    imagegen.GenerationID
	user  imagegen.UserID
	model string
	begun bool
}

// byTurn has work that was begun before ahead of fresh work of the same user.
func byTurn(a, b ticket) int {
	if a.begun != b.begun {
		if a.begun {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.id, b.id)
}

// pick chooses what is to be claimed, and gives each user who gets something a new turn.
func (s *session) pick(d imagegen.Demand) (picked []ticket) {
	d.Places = maps.Clone(d.Places)
	users := s.candidates(d)
	served := make(map[imagegen.UserID]int64)
	var done []standing // who have nothing more of a model
	for len(picked) < d.Most && len(users) > 0 {
		i := fewest(users)
		c := users[i]
		users = slices.Delete(users, i, i+1)
		t, ok := c.first(d)
		if !ok {
			continue
		}
		c.due[t.model] = c.due[t.model][1:]
		picked = append(picked, t)
		if len(c.due[t.model]) == 0 && c.all[t.model] {
			done = append(done, standing{c.user, t.model})
		}
		served[c.user] = s.db.turns.next(s.at.Now)
		if d.Places != nil {
			d.Places[t.model]--
		}
		if c.held++; allows(d, c.held) {
			users = append(users, c)
		}
	}
	s.serve(served)
	s.leave(done)
	return picked
}

// keepInLine has those stand in line again whose work was picked and not claimed: somebody was busy with it.
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

func allows(d imagegen.Demand, held int) bool { return d.Below == 0 || held < d.Below }

func hasPlace(d imagegen.Demand, model string) bool {
	return d.Places == nil || d.Places[model] > 0
}

// first is the first work of a user whose model has a place.
func (c *candidate) first(d imagegen.Demand) (first ticket, ok bool) {
	for model, due := range c.due {
		if len(due) > 0 && hasPlace(d, model) && (!ok || byTurn(due[0], first) < 0) {
			first, ok = due[0], true
		}
	}
	return first, ok
}

// fewest finds the first of those who hold the fewest slots.
func fewest(users []*candidate) (first int) {
	for i, c := range users {
		if c.held < users[first].held {
			first = i
		}
	}
	return first
}

// candidates are the users who may get something, by their turns: of each model with places those from the front
// of its line, as many as hold something and as many more as can get something.
func (s *session) candidates(d imagegen.Demand) []*candidate {
	for {
		users, models, held := s.lines(d)
		if len(users) == 0 {
			return nil
		}
		found, vain := s.due(d, users, models, held)
		if len(vain) == 0 {
			slices.SortFunc(found, func(a, b *candidate) int { return cmp.Compare(a.turn, b.turn) })
			return slices.DeleteFunc(found, func(c *candidate) bool { return !allows(d, c.held) })
		}
		s.leave(vain)
	}
}

// lines locks the fronts of the lines.
func (s *session) lines(d imagegen.Demand) (users, models [][]byte, by map[imagegen.UserID]*candidate) {
	open, arg := everyModel, any(nil)
	if d.Places != nil {
		open, arg = theseModels, modelsWithPlaces(d)
	}
	by = make(map[imagegen.UserID]*candidate)
	s.query(func(rows pgx.Rows) error {
		var user, model []byte
		var turn int64
		return each(rows, func() error {
			u := imagegen.UserID(user)
			if by[u] == nil {
				by[u] = &candidate{user: u, turn: turn, held: d.Held[u], due: make(map[string][]ticket), all: make(map[string]bool)}
			}
			by[u].turn = min(by[u].turn, turn)
			users, models = append(users, user), append(models, model)
			return nil
		}, &user, &model, &turn)
	}, `with recursive m as (`+open+`) select f.usr, f.model, f.turn from m cross join lateral
 (select usr, model, turn from imagegend.turns t where t.model = m.model order by turn limit $1 for update skip locked) f`,
		max(d.Most, 1)+len(d.Held), arg)
	return users, models, by
}

// Of which models the lines are; $2 names them.
const (
	theseModels = `select unnest($2::bytea[]) as model`
	everyModel  = `(select model from imagegend.turns where $2::bytea[] is null order by model limit 1) union all
 select (select model from imagegend.turns t where t.model > m.model order by model limit 1) from m where m.model is not null`
)

// modelsWithPlaces are those of which anything may begin, in the order in which everybody locks their lines.
func modelsWithPlaces(d imagegen.Demand) [][]byte {
	models := [][]byte{}
	for _, model := range slices.Sorted(maps.Keys(d.Places)) {
		if d.Places[model] > 0 {
			models = append(models, []byte(model))
		}
	}
	return models
}

// due reads what is due of users in the lines. Those of whom nothing is stand there in vain.
func (s *session) due(d imagegen.Demand, users, models [][]byte, by map[imagegen.UserID]*candidate) (found []*candidate, vain []standing) {
	s.query(func(rows pgx.Rows) error {
		var user, model, id []byte
		var begun *bool
		return each(rows, func() error {
			u, m := imagegen.UserID(user), string(model)
			if id == nil {
				vain = append(vain, standing{u, m})
				return nil
			}
			by[u].due[m] = append(by[u].due[m], ticket{imagegen.GenerationID(id), u, m, *begun})
			by[u].all[m] = len(by[u].due[m]) < max(d.Most, 1)+1
			return nil
		}, &user, &model, &id, &begun)
	}, `select x.usr, x.model, w.id, w.begun from unnest($1::bytea[], $2::bytea[]) x(usr, model) left join lateral
 (select id, begun from imagegend.waiting w where w.usr = x.usr and w.model = x.model and due is null order by begun desc, id limit $3) w on true
 order by x.usr, x.model, w.begun desc, w.id`, users, models, max(d.Most, 1)+1)
	return slices.Collect(maps.Values(by)), vain
}

// leave takes users out of lines.
func (s *session) leave(all []standing) {
	if len(all) == 0 {
		return
	}
	var users, models [][]byte
	for _, st := range all {
		users, models = append(users, []byte(st.user)), append(models, []byte(st.model))
	}
	s.changes++
	s.exec(`delete from imagegend.turns t using unnest($1::bytea[], $2::bytea[]) x(usr, model) where t.usr = x.usr and t.model = x.model`, users, models)
}

// serve has users go to the end of all their lines.
func (s *session) serve(served map[imagegen.UserID]int64) {
	if len(served) == 0 {
		return
	}
	var users [][]byte
	var turns []int64
	for u, turn := range served {
		users, turns = append(users, []byte(u)), append(turns, turn)
	}
	s.changes++
	s.exec(`update imagegend.turns t set turn = x.turn from unnest($1::bytea[], $2::bigint[]) x(usr, turn) where t.usr = x.usr`, users, turns)
}
