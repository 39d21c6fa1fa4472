package config

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/lists"
)

// envPrefix begins the names of all environment variables of settings.
const envPrefix = "IMAGEGEND_"

// annotation marks a flag as a setting and holds its group. A flag without it belongs to one command, and has neither
// an environment variable nor a key in the file.
const annotation = "imagegend-setting"

// declare adds the flags that f declares to fs, as settings of a group. A setting that fs has already stays as it is:
// AllFlags declares the settings of several commands, and commands share some. f sets the fields to their defaults in
// any case.
func declare(fs *pflag.FlagSet, group string, f func(*pflag.FlagSet)) {
	part := pflag.NewFlagSet("", pflag.ContinueOnError)
	part.SortFlags = false
	f(part)
	part.VisitAll(func(flag *pflag.Flag) {
		flag.Annotations = map[string][]string{annotation: {group}}
		if fs.Lookup(flag.Name) == nil {
			fs.AddFlag(flag)
		}
	})
}

// Group returns the group of a setting; "" if the flag is not a setting.
func Group(f *pflag.Flag) string {
	if g := f.Annotations[annotation]; len(g) > 0 {
		return g[0]
	}
	return ""
}

// Variable returns the environment variable that can give a flag its value; "" if there is none.
func Variable(f *pflag.Flag) string {
	if Group(f) != "" || f.Name == fileFlag {
		return EnvName(f.Name)
	}
	return ""
}

// Groups lists the groups in the order in which help shows them.
func Groups() []string {
	return []string{groupData, groupNetwork, groupWork, groupMoney, groupConsole, groupImage, groupConnect,
		groupProcess}
}

// EnvName returns the environment variable of a setting: IMAGEGEND_DATA_DIR for data-dir.
func EnvName(setting string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(setting, "-", "_"))
}

// settings lists the settings among the flags, by name.
func settings(fs *pflag.FlagSet) (all []*pflag.Flag) {
	fs.VisitAll(func(f *pflag.Flag) {
		if Group(f) != "" {
			all = append(all, f)
		}
	})
	return all
}

// names lists the keys that a configuration file may have: all settings, since one file serves all commands.
func names() []string {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(Settings).AllFlags(fs)
	return lists.Each(settings(fs), func(f *pflag.Flag) string { return f.Name })
}
