package imagegen_test

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// Identifiers that are made at a time or later are not below the first one of that time; earlier ones are.
func TestFirstGenerationID(t *testing.T) {
	is := is.New(t)
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	first := imagegen.FirstGenerationID(at)
	is.True(first.Valid())
	for range 100 {
		is.True(imagegen.NewIDs().Generation(at.Add(-time.Millisecond)) < first)
		is.True(imagegen.NewIDs().Generation(at) >= first)
	}
	for _, never := range []time.Time{{}, time.Unix(-1, 0), time.Date(20_000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		is.Equal(string(imagegen.FirstGenerationID(never)), "gen_00000000000000000000000000")
	}
}
