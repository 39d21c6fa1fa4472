package config

import (
	"slices"
	"strings"

	"github.com/imagegend/imagegend/internal/nearest"
)

// Misspelt warns of each variable, of those in an environment, that is probably meant for a setting and is
// none. One that is near to no setting is somebody else's: the key of an upstream, or what a cluster sets.
func Misspelt(environ []string) (warnings []string) {
	var known []string
	for _, setting := range append(names(), fileFlag) {
		known = append(known, EnvName(setting))
	}
	for _, entry := range environ {
		variable, _, _ := strings.Cut(entry, "=")
		meant := nearest.Name(variable, known)
		if !strings.HasPrefix(variable, envPrefix) || slices.Contains(known, variable) || !alike(variable, meant) {
			continue
		}
		warnings = append(warnings, "the environment variable "+variable+" is not a setting and changes nothing; did you mean "+meant+"?")
	}
	slices.Sort(warnings)
	return warnings
}

// alike compares two variables by what stands behind the prefix that they share.
func alike(variable, other string) bool {
	return nearest.Hint(strings.TrimPrefix(variable, envPrefix), []string{strings.TrimPrefix(other, envPrefix)}) != ""
}
