package config

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Where a value can come from.
const (
	FromFlag    = "flag"
	FromEnv     = "env"
	FromFile    = "file"
	FromDefault = "default"
)

// Origin is where a value comes from: its kind, and the name of flag, variable or file.
type Origin struct{ Kind, Name string }

// Sources tells where the settings come from.
type Sources struct {
	File  string // the configuration file; "": none
	found bool   // it lay in the working directory, and nobody named it
	given map[string]Origin
}

// Given reports whether a setting was given as a flag.
func (s *Sources) Given(setting string) bool { return s.given[setting].Kind == FromFlag }

// Effective is one setting as it counts.
type Effective struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`         // flag, env, file or default
	Name   string `json:"name,omitempty"` // of the flag, variable or file
}

// redacted stands for a secret that is set.
const redacted = "[redacted]"

// isSecret reports whether the value of a setting is shown to nobody.
func isSecret(f *pflag.Flag) bool { return f.Name == "api-key" || f.Name == "oidc-secret" }

// Effective lists the settings among fs by name. Secrets are redacted.
func (s *Sources) Effective(fs *pflag.FlagSet) []Effective {
	var list []Effective
	settings(fs, func(f *pflag.Flag) {
		e := Effective{Key: f.Name, Value: f.Value.String(), Origin: s.given[f.Name].Kind, Name: s.given[f.Name].Name}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			e.Value = strings.Join(list.GetSlice(), ",")
		}
		if isSecret(f) && e.Value != "" {
			e.Value = redacted
		}
		if f.Name == "database" && e.Value != "" {
			e.Value = withoutPassword(e.Value)
		}
		list = append(list, e)
	})
	slices.SortFunc(list, func(a, b Effective) int { return strings.Compare(a.Key, b.Key) })
	return list
}
