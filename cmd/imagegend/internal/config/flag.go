package config

import (
	"strings"

	"github.com/spf13/pflag"
)

// envPrefix begins the environment variable of every setting.
const envPrefix = "IMAGEGEND_"

// annotation marks a flag as a setting and holds its group.
const annotation = "imagegend-setting"

// declare adds what f declares as settings of a group. A setting that is there already stays.
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

// Group returns the group of a setting; "" if the flag is none.
func Group(f *pflag.Flag) string {
	if g := f.Annotations[annotation]; len(g) > 0 {
		return g[0]
	}
	return ""
}

// Variable is the environment variable that gives a flag its value; "" if there is none.
func Variable(f *pflag.Flag) string {
	if Group(f) != "" || f.Name == fileFlag {
		return EnvName(f.Name)
	}
	return ""
}

// Groups lists the groups in the order in which help shows them.
func Groups() []string {
	return []string{groupData, groupNetwork, groupWork, groupConsole, groupImage, groupConnect, groupProcess}
}

// EnvName is the environment variable of a setting: data-dir is IMAGEGEND_DATA_DIR.
func EnvName(setting string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(setting, "-", "_"))
}

// settings visits the settings among flags, by name.
func settings(fs *pflag.FlagSet, visit func(*pflag.Flag)) {
	fs.VisitAll(func(f *pflag.Flag) {
		if Group(f) != "" {
			visit(f)
		}
	})
}

func hasSettings(fs *pflag.FlagSet) (has bool) {
	settings(fs, func(*pflag.Flag) { has = true })
	return has
}

// names lists the keys that a configuration file may have.
func names() []string {
	var all []string
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(Settings).AllFlags(fs)
	settings(fs, func(f *pflag.Flag) { all = append(all, f.Name) })
	return all
}
