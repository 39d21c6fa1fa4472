package doctor

import (
	"strings"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/private"
)

// Password looks at the file with the first operator's password; nil if none is configured. The file counts only
// until there is an operator. So one that cannot be used is a warning and no failure: it may have been removed, as it
// should be.
func Password(s config.Server) []Finding {
	if s.OperatorPasswordFile == "" {
		return nil
	}
	f := ok("operator password", "%s can be read, and by nobody else", s.OperatorPasswordFile)
	text, err := private.ReadFile(s.OperatorPasswordFile)
	switch {
	case err != nil:
		what, remedy, _ := strings.Cut(err.Error(), "; ")
		f = f.says("%s", what).but("serve does not start without it until there is an operator")
		if remedy != "" {
			f.Remedy = remedy + "; " + f.Remedy
		}
	case strings.TrimSpace(text) == "":
		f = f.says("%s is empty", s.OperatorPasswordFile).but("write the password into its first line")
	}
	return []Finding{f}
}
