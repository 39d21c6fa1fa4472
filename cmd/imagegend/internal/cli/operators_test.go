package cli_test

import (
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/cli"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// withAlice makes a data directory with one user, in an empty working directory.
func withAlice(t *testing.T) {
	t.Helper()
	is := is.New(t)
	t.Chdir(t.TempDir())
	db, err := storage.Open("imagegend-data", nil)
	is.NoErr(err)
	is.NoErr(db.Close())
	is.Equal(imagegend(t, nil, "user", "create", "alice").code, cli.ExitOK)
}

// A shell offers the users behind --user wherever it stands, and as an argument once.
func TestUsersAreCompleted(t *testing.T) {
	withAlice(t)
	for name, test := range map[string]struct {
		line []string
		want string
	}{
		"before an argument": {[]string{"credit", "grant", "--user", ""}, "alice\n:4\n"},
		"behind an argument": {[]string{"credit", "grant", "100", "--user", ""}, "alice\n:4\n"},
		"as an argument":     {[]string{"user", "suspend", ""}, "alice\n:4\n"},
		"as a member":        {[]string{"usage", "--user", "alice", "--member", ""}, "alice\n:4\n"},
		"as one to sponsor":  {[]string{"user", "sponsor", "--none", ""}, "alice\n:4\n"},
		"as a sponsor":       {[]string{"user", "members", ""}, "alice\n:4\n"},
		"as another one":     {[]string{"user", "suspend", "alice", ""}, ":4\n"},
		"as an actor":        {[]string{"trail", "--actor", ""}, "alice\n:4\n"},
		"as a target":        {[]string{"trail", "--target", ""}, "alice\n:4\n"},
		"not as an id":       {[]string{"generation", "show", ""}, ":4\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := imagegend(t, nil, append([]string{"__complete"}, test.line...)...)
			is.New(t).Equal(got.stdout, test.want)
		})
	}
}

// A stretch of time may have days, as it may everywhere.
func TestTrailSinceDaysAgo(t *testing.T) {
	is := is.New(t)
	withAlice(t)
	for _, since := range []string{"7d", "1d12h", "24h", "2020-01-01T00:00:00Z"} {
		got := imagegend(t, nil, "trail", "--since", since)
		is.Equal(got.code, cli.ExitOK)
		says(t, got.stdout, "user.create")
	}
	for _, since := range []string{"7", "0s", "-7d", "a week"} {
		got := imagegend(t, nil, "trail", "--since", since)
		is.Equal(got.code, cli.ExitUsage)
		says(t, got.stderr, "write a time such as 2030-12-31T23:59:59Z, or how long ago, such as 24h or 7d")
	}
}

// The findings of doctor name no packages of the program.
func TestDoctorNamesNoPackage(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	is.NoErr(os.Mkdir("data", 0o700))
	is.NoErr(os.WriteFile("data/letter.txt", nil, 0o600))
	got := imagegend(t, nil, "doctor", "--models", "fake", "--addr", "127.0.0.1:0", "--data-dir", "data")
	is.Equal(got.code, cli.ExitError)
	says(t, got.stdout, "fail  database       there is no database here")
}

// An error of a library that has several lines is printed as one.
func TestErrorsOfADatabaseAreOneLine(t *testing.T) {
	is := is.New(t)
	got := imagegend(t, nil, "audit", "--database", "postgres://127.0.0.1:1/x?connect_timeout=1", "--images",
		"s3://b/p?endpoint=http://127.0.0.1:1")
	is.Equal(got.code, cli.ExitError)
	says(t, got.stderr, "imagegend: the database cannot be reached: ")
	is.True(!strings.Contains(got.stderr, ":;")) // the reasons stand on lines of their own
	is.True(!strings.Contains(got.stderr, "\t"))
	is.Equal(strings.Count(got.stderr, "\n"), 1)
}
