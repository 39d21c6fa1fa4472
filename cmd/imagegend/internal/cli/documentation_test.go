package cli_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// Every command of docs/upgrading.md is one that the program takes, and names the settings or the data of an installed
// service. One that looks at models has the variables too, among which are their keys.
func TestCommandsOfUpgrading(t *testing.T) {
	is := is.New(t)
	document, err := os.ReadFile("../../../../docs/upgrading.md")
	is.NoErr(err)
	commands := 0
	for line := range strings.Lines(string(document)) {
		for _, found := range regexp.MustCompile(
			"\\bimagegend ((?:backup|restore|audit|doctor|config|version)\\b[^`'&\n]*)").FindAllStringSubmatch(line,
			-1) {
			commands++
			args := strings.Fields(found[1])
			is.Equal(imagegend(t, nil, append(args, "--help")...).code, 0)
			if args[0] != "version" && !strings.Contains(found[1], "--config /etc/") &&
				!strings.Contains(found[1], "--data-dir /") {
				t.Errorf("%q does not say where the service is", found[0])
			}
			if (args[0] == "doctor" || args[0] == "config") &&
				!strings.Contains(line, "set -a; . /etc/imagegend/imagegend.env; ") {
				t.Errorf("%q lacks the variables of the service", found[0])
			}
		}
	}
	is.True(commands >= 6)
}
