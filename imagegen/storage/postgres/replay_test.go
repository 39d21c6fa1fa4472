package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// The answer to a repeated call is the record that stands. One whose wait for a standby was cancelled
// shows, and a failover may take it back. So the answer waits for a standby too.
func TestWhatIsReservedIsLasting(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	db := open(t, s.Database(t))
	fund(t, db)
	waiting := withoutStandby(t, s)
	calls := []func() error{
		func() error { _, err := db.CreateCharged(context.Background(), record(1), time.Minute); return err },
		func() error {
			_, err := db.GenerationByIdempotencyKey(context.Background(), "alice", record(1).IdempotencyKey)
			return err
		},
	}
	for _, call := range calls {
		done := make(chan error, 1)
		go func() { done <- call() }()
		eventually(t, "the commit waits", func() bool {
			select {
			case err := <-done:
				t.Fatalf("the call returned before a standby had confirmed the commit: %v", err)
			default:
			}
			return waiting()
		})
		is.NoErr(s.Exec("postgres", cancelWaits))
		is.True(errors.Is(<-done, postgres.ErrOutcomeUnknown))
	}
}
