package postgres

import (
	"context"
	"time"
)

// Turn implements [imagegen.TurnTaker]. A turn that began later than now, by more than one lasts, was dated by a clock
// that has been corrected since: it holds nobody up.
func (db *DB) Turn(ctx context.Context, duty string, every time.Duration) (bool, error) {
	within, cancel := db.patiently(ctx)
	defer cancel()
	var at *time.Time // nil: by the database's clock
	if db.clock.given != nil {
		at = new(db.clock.now())
	}
	t, err := db.sql.Exec(within, `insert into imagegend.duties as d (duty, began) values ($1, coalesce($3, now()))
 on conflict (duty) do update set began = excluded.began where abs(extract(epoch from excluded.began - d.began)) * 1e6 >= $2`,
		duty, every.Microseconds(), at)
	if err != nil {
		return false, unread(ctx, err)
	}
	return t.RowsAffected() == 1, nil
}

// SetPlace notes how far a duty has come that takes several turns, by any process: "" at its beginning, nil at its end.
// There must have been a turn of it.
func (db *DB) SetPlace(ctx context.Context, duty string, place *string) error {
	within, cancel := db.patiently(ctx)
	defer cancel()
	_, err := db.sql.Exec(within, `update imagegend.duties set place = $2 where duty = $1`, duty, place)
	if err != nil {
		return unread(ctx, err)
	}
	return nil
}

// Place returns how far a duty has come; "": it is at its beginning, nil: it is not under way.
func (db *DB) Place(ctx context.Context, duty string) (place *string, err error) {
	err = db.row(ctx, []any{&place}, `select max(place) from imagegend.duties where duty = $1`, duty)
	return place, err
}
