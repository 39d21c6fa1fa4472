package config

import (
	"slices"
	"strings"

	"github.com/imagegend/imagegend/internal/nearest"
)

// Misspelt returns a warning for each variable of an environment whose name begins like that of a setting and
// resembles one, but is not one. A variable that resembles none is left alone: it may be the key of an upstream, or
// set by a cluster. environ has the form of os.Environ.
func Misspelt(environ []string) (warnings []string) {
	var known []string
	for _, setting := range append(names(), fileFlag) {
		// The flag --config is not a setting, but has a variable too.
		known = append(known, EnvName(setting))
	}
	// of programs with an operator key, as the documents have them
	known = append(known, envPrefix+"OPS_KEY", envPrefix+"OPS_URL")
	for _, entry := range environ {
		variable, _, _ := strings.Cut(entry, "=")
		meant := nearest.Name(variable, known)
		// Compared without their common prefix, which would make any two look similar.
		name, ours := strings.CutPrefix(variable, envPrefix)
		if !ours || slices.Contains(known, variable) ||
			nearest.Hint(name, []string{strings.TrimPrefix(meant, envPrefix)}) == "" {
			continue
		}
		warnings = append(warnings, "the environment variable "+variable+
			" is not a setting and changes nothing; did you mean "+meant+"?")
	}
	slices.Sort(warnings)
	return warnings
}
