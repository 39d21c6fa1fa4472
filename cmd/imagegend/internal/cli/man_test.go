package cli_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/cli"
)

// The manual page has every command with its flags, and no line that troff would take for a request.
func TestManualPage(t *testing.T) {
	is := is.New(t)
	got := imagegend(t, nil, "man")
	is.Equal(got.code, cli.ExitOK)
	says(t, got.stdout, ".TH IMAGEGEND 1", ".SH IMAGEGEND SERVE\n", ".SH IMAGEGEND CREDIT GRANT\n",
		`\-\-backup\-every duration`, `\-\-config file`)
	for line := range strings.Lines(got.stdout) {
		request := strings.HasPrefix(line, ".TH ") || strings.HasPrefix(line, ".SH ") || line == ".nf\n" ||
			line == ".fi\n"
		is.True(request || strings.HasPrefix(line, `\&`) || strings.HasPrefix(line, "imagegend "))
	}
}
