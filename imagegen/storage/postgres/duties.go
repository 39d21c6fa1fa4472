package postgres

import (
	"context"
	"time"
)

// Turn implements [imagegen.TurnTaker]. A turn that began later than now, by more than one lasts, was dated by a clock
// that has been corrected since: it holds nobody up.
func (db *DB) Turn(ctx context.Context, duty string, every time.Duration) (bool, error) {
	var at *time.Time // nil: by the database's clock
	if db.clock.given != nil {
		at = new(db.clock.now())
	}
	changed, err := db.exec(ctx, `insert into imagegend.duties as d (duty, began) values ($1, coalesce($3, now()))
 on conflict (duty) do update set began = excluded.began where abs(extract(epoch from excluded.began - d.began)) * 1e6 >= $2`,
		duty, every.Microseconds(), at)
	return changed == 1, err
}

// SetPlace notes how far a duty has come that takes several turns, by any process: "" at its beginning, nil at its end.
// There must have been a turn of it.
func (db *DB) SetPlace(ctx context.Context, duty string, place *string) error {
	_, err := db.exec(ctx, `update imagegend.duties set place = $2 where duty = $1`, duty, place)
	return err
}

// exec runs a statement outside any transaction, and returns how many rows it has changed. imagegen.ErrNotApplied: the
// database does not answer.
func (db *DB) exec(ctx context.Context, sql string, args ...any) (changed int64, err error) {
	within, cancel := db.patiently(ctx)
	defer cancel()
	t, err := db.sql.Exec(within, sql, args...)
	if err != nil {
		return 0, unread(ctx, err)
	}
	return t.RowsAffected(), nil
}

// Place returns how far a duty has come; "": it is at its beginning, nil: it is not under way.
func (db *DB) Place(ctx context.Context, duty string) (place *string, err error) {
	err = db.row(ctx, []any{&place}, `select max(place) from imagegend.duties where duty = $1`, duty)
	return place, err
}
