package config

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// The kinds of origin. They are shown to operators, in JSON too.
const (
	FromFlag    = "flag"
	FromEnv     = "env"
	FromFile    = "file"
	FromDefault = "default"
)

// Origin is where a value comes from: its kind, and the name of the flag, the variable or the file.
type Origin struct{ Kind, Name string }

// Sources says where the settings of a command come from. Load returns it.
type Sources struct {
	File  string            // configuration file; "": none
	found bool              // nobody named File: it lay in the working directory
	given map[string]Origin // by setting
}

// Given reports whether a setting was given as a flag, as opposed to a variable, the file or the default.
func (s *Sources) Given(setting string) bool { return s.given[setting].Kind == FromFlag }

// Effective is a setting with the value that counts.
type Effective struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`         // flag, env, file or default
	Name   string `json:"name,omitempty"` // of the flag, variable or file
}

// redacted stands for a secret that is set.
const redacted = "[redacted]"

// isSecret reports whether the value of a setting must not be shown.
func isSecret(f *pflag.Flag) bool { return f.Name == "api-key" || f.Name == "oidc-secret" }

// Effective lists the settings among fs by name, with secrets redacted and the password in the address of a database
// left out.
func (s *Sources) Effective(fs *pflag.FlagSet) []Effective {
	var list []Effective
	for _, f := range settings(fs) {
		// A list is shown as a variable would have it, with commas.
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
	}
	slices.SortFunc(list, func(a, b Effective) int { return strings.Compare(a.Key, b.Key) })
	return list
}
