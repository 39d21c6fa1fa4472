package cli_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// The steps are written without a database, for whatever schema is named.
func TestMigratePrints(t *testing.T) {
	is := is.New(t)
	p := imagegend(t, nil, "migrate", "--print", "--database-schema", "app images")
	is.Equal(p.code, 0)
	is.True(strings.HasPrefix(p.stdout, "-- migration 0001_begin\n"))
	is.True(strings.Contains(p.stdout, `create table "app images".accounts`))
	is.True(!strings.Contains(p.stdout, "imagegend."))

	p = imagegend(t, nil, "migrate", "--print", "--json")
	is.Equal(p.code, 0)
	var steps []struct {
		Number    int
		Name, SQL string
	}
	is.NoErr(json.Unmarshal([]byte(p.stdout), &steps))
	for n, s := range steps {
		is.Equal(s.Number, n+1)
		is.True(strings.Contains(s.SQL, fmt.Sprintf("update imagegend.schema set version = %d,", n+1)))
	}
}

func TestMigrateNeedsADatabase(t *testing.T) {
	is := is.New(t)
	p := imagegend(t, nil, "migrate")
	is.Equal(p.code, 2)
	is.True(strings.Contains(p.stderr, "--database"))
	is.Equal(imagegend(t, nil, "migrate", "--print", "--status").code, 2)
	is.Equal(imagegend(t, nil, "migrate", "--print", "--database-schema", strings.Repeat("x", 64)).code, 1)
}
