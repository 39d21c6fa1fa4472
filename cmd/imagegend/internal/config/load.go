package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/private"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/yamlfile"
)

// fileFlag names the flag for the configuration file. It is not a setting: it cannot be a key of the file, but it has
// a variable.
const fileFlag = "config"

const (
	// Names that are looked for when none is given.
	defaultFile   = "imagegend.yaml"
	defaultModels = "models.yaml"
)

// DeclareFile declares --config, which every command has.
func DeclareFile(fs *pflag.FlagSet) {
	fs.String(fileFlag, "", "configuration `file`; without it, "+defaultFile+
		" in the working directory, if there is one")
}

// Load fills the settings among fs that were not given as flags, from the environment or else from the configuration
// file. An empty variable counts as not set. The keys of the file are checked as a whole, also those that this command
// does not use. All wrong values are reported together; each error names the variable, or the line of the file. A
// command without settings reads no file, so that it works beside a broken one.
func Load(fs *pflag.FlagSet) (*Sources, error) {
	s := &Sources{given: map[string]Origin{}}
	all := settings(fs)
	if len(all) == 0 {
		return s, nil // nothing to fill, so the file may be broken
	}
	// viper decides only which source has a value: the flag, the variable or the file, in this order. Reading the
	// value is assign's.
	v := viper.New()
	if err := bind(v, fs); err != nil {
		return nil, err
	}
	if err := s.findFile(v.GetString(fileFlag)); err != nil {
		return nil, err
	}
	if s.File != "" {
		values, err := readFile(s.File)
		if err != nil {
			return nil, err
		}
		if err := v.MergeConfigMap(values); err != nil {
			return nil, err
		}
	}
	var errs []error
	for _, f := range all {
		origin := s.origin(f, v)
		s.given[f.Name] = origin
		switch {
		case origin.Kind == FromFile && s.found && namedOnly[f.Name]:
			errs = append(errs, fmt.Errorf("%s: %s counts only in a file that you name, for anybody can place one in a directory: give --%s %s, or set %s or %s",
				s.File, f.Name, fileFlag, s.File, EnvName(fileFlag), EnvName(f.Name)))
		case origin.Kind == FromEnv || origin.Kind == FromFile:
			errs = append(errs, assign(f, v.Get(f.Name), origin))
		}
	}
	return s, errors.Join(errs...)
}

// bind tells viper to look at a flag first and then at its variable. It also binds flags that are not settings; Load
// reads only the settings, and --config.
func bind(v *viper.Viper, fs *pflag.FlagSet) error {
	errs := []error{v.BindPFlags(fs)}
	fs.VisitAll(func(f *pflag.Flag) { errs = append(errs, v.BindEnv(f.Name, EnvName(f.Name))) })
	return errors.Join(errs...)
}

// origin returns where viper takes the value of a setting from. It repeats viper's order, which viper does not
// reveal.
func (s *Sources) origin(f *pflag.Flag, v *viper.Viper) Origin {
	switch variable := EnvName(f.Name); {
	case f.Changed:
		return Origin{FromFlag, "--" + f.Name}
	case os.Getenv(variable) != "":
		return Origin{FromEnv, variable}
	case v.InConfig(f.Name):
		return Origin{FromFile, s.File}
	}
	return Origin{Kind: FromDefault}
}

// findFile decides which file is read. A file that is named must exist, which reading it will show. A file that nobody
// named may be missing, and must pass findOwn.
func (s *Sources) findFile(named string) error {
	if named != "" {
		s.File = named
		return nil
	}
	err := findOwn(defaultFile, fileFlag)
	switch {
	case err == nil:
		s.File, s.found = defaultFile, true
		return nil
	case errors.Is(err, os.ErrNotExist):
		return nil
	}
	return fmt.Errorf("the configuration file cannot be read: %w", err)
}

// readFile returns the values of a file by key; nil for an empty file. The values stay nodes: viper only chooses among
// sources, and the errors of assign name the place in the file. A key without a value counts as absent.
func readFile(path string) (map[string]any, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the configuration file cannot be read: %w", err)
	}
	root, err := yamlfile.Document(text)
	if root == nil && err == nil {
		return nil, nil
	}
	if err == nil && root.Kind != yaml.MappingNode {
		err = yamlfile.Mistake(root, "write settings such as addr: 127.0.0.1:8080")
	}
	if err != nil {
		return nil, yamlfile.InFile(path, err)
	}
	values, known := map[string]any{}, names()
	for key, value := range yamlfile.Pairs(root) {
		if !slices.Contains(known, key.Value) {
			return nil, yamlfile.InFile(path, yamlfile.UnknownKey(key, known))
		}
		if value.ShortTag() != "!!null" {
			values[key.Value] = value
		}
	}
	return values, nil
}

// assign gives a flag a value, the text of a variable or a node of a file, through the flag's own parser. So a value
// means the same wherever it comes from. The error does not repeat the value of a secret.
func assign(f *pflag.Flag, value any, origin Origin) error {
	n, inFile := value.(*yaml.Node)
	if !inFile {
		n = &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(value)}
	}
	err := set(f.Value, n)
	if err == nil {
		return nil
	}
	shown := "its value"
	if n.Kind == yaml.ScalarNode && !isSecret(f) {
		shown = strconv.Quote(n.Value)
	}
	if inFile {
		return yamlfile.InFile(origin.Name, yamlfile.Mistake(n, "%s: %s is not valid: %v", f.Name, shown, err))
	}
	return fmt.Errorf("%s: %s is not valid: %w", origin.Name, shown, err)
}

// set hands a flag the value as it is written, and not as YAML would read it: to YAML 2026-11-21 is a time, and 010
// is 8. An alias stands for what it refers to.
func set(flag pflag.Value, n *yaml.Node) error {
	list, takesList := flag.(pflag.SliceValue)
	switch {
	case n.Kind == yaml.MappingNode:
		return errors.New("a plain value is wanted")
	case n.Kind == yaml.ScalarNode:
		return flag.Set(n.Value)
	case n.Kind == yaml.AliasNode:
		return set(flag, n.Alias)
	case !takesList:
		return errors.New("one value is wanted, not a list")
	}
	var items []string
	for _, element := range n.Content {
		if element.Kind == yaml.AliasNode {
			element = element.Alias
		}
		if element.Kind != yaml.ScalarNode {
			return errors.New("a list of plain values is wanted")
		}
		items = append(items, element.Value)
	}
	return list.Replace(items)
}

// ModelsFile returns the file with models and prices: the named one, else models.yaml beside the configuration file;
// "" if there is none. A file that nobody named must pass findOwn; beside a named configuration file it is trusted
// like that one.
func (s *Sources) ModelsFile(named string) (string, error) {
	// A file that was named, by flag, variable or configuration file, is trusted.
	if named != "" {
		return named, nil
	}
	beside := filepath.Join(filepath.Dir(s.File), defaultModels)
	_, err := os.Stat(beside)
	if s.File == "" || s.found {
		err = findOwn(beside, "models")
	}
	switch {
	case err == nil:
		return beside, nil
	case errors.Is(err, os.ErrNotExist):
		return "", nil
	}
	return "", fmt.Errorf("the models file cannot be read: %w", err)
}

// namedOnly are settings that count only in a file which the user names. With them, anybody who puts a file into a
// working directory, by an archive or a repository, could have the API key sent to an address of theirs, prompts
// charged to an account of theirs, or files read and replaced.
var namedOnly = map[string]bool{"url": true, "api-key": true, "output": true, "ref": true}

// findOwn looks for a file in the working directory that nobody named. It must belong to this user or to root, and
// not be writable by everybody. A missing file is an fs.ErrNotExist.
func findOwn(path, flag string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	if err := private.CheckOwn(path); err != nil {
		return &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w; if you trust it, name it with --%s", err,
			flag)}
	}
	return nil
}
