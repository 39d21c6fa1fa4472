package cli

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/admin"
)

// A generation that was tried twice, with a restart between: its fence rose three times.
func TestGenerationTellsRetries(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	is.NoErr((&app{stdout: &out}).printGeneration(admin.Generation{Attempt: 3, Failures: 1}))
	is.True(regexp.MustCompile(`(?m)^retries +1$`).MatchString(out.String()))
	is.True(!strings.Contains(out.String(), "attempt"))
}
