package cli

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// A generation that was tried twice, with a restart between: its fence rose three times.
func TestGenerationTellsRetries(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	is.NoErr((&app{stdout: &out}).printGeneration(admin.Generation{Attempt: 3, Failures: 1}))
	is.True(regexp.MustCompile(`(?m)^retries +1$`).MatchString(out.String()))
	is.True(!strings.Contains(out.String(), "attempt"))
}

// Text of users can neither send escape sequences to the operator's terminal nor begin a line.
func TestTextOfUsersIsQuotedWhereItMust(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	a := &app{stdout: &out}
	is.NoErr(a.printGeneration(admin.Generation{Prompt: "a fox\nstatus  succeeded", Failure: "\x1b[2J"}))
	is.True(regexp.MustCompile(`(?m)^prompt +"a fox\\nstatus  succeeded"$`).MatchString(out.String()))
	is.True(regexp.MustCompile(`(?m)^failure +"\\x1b\[2J"$`).MatchString(out.String()))

	out.Reset()
	names := []string{`a "red" fox — ü 狐`, "\x1b]0;title\a", "\x9b2J", ""}
	is.NoErr(printList(a, false, names, []string{"NAME"}, func(s string) []any { return []any{s} }))
	is.Equal(out.String(), "NAME\na \"red\" fox — ü 狐\n"+`"\x1b]0;title\a"`+"\n"+`"\x9b2J"`+"\n\n")
}
