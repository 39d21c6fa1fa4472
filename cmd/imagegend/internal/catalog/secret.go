package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/private"
	"github.com/imagegend/imagegend/imagegen"
)

// secret returns the setter of a key that says where a secret is, in the environment or in a file of its own; from
// reads it there. The secret itself is never in models.yaml, which is shown, copied and kept in repositories.
func secret(name string, to *imagegen.Secret, from func(string) (string, error)) setter {
	return func(n *yaml.Node) error {
		if *to != "" {
			return errAt(n, "%s_env and %s_file are both given; leave one of them out", name, name)
		}
		var place string
		if err := readText(n, reflect.ValueOf(&place).Elem()); err != nil {
			return err
		}
		value, err := from(place)
		if err != nil {
			return errAt(n, "%v", err)
		}
		*to = imagegen.Secret(value)
		return nil
	}
}

// variableName matches the names that variables have by convention. Few secrets look like one.
var variableName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// variable reads an environment variable. A text that cannot be the name of one may be the secret itself, so no error
// repeats it.
func (s source) variable(name string) (string, error) {
	if !variableName.MatchString(name) {
		return "", errors.New("the name of an environment variable is wanted, of capitals, digits and _, such as OPENAI_API_KEY; never the secret itself")
	}
	value := strings.TrimSpace(s.Getenv(name))
	if value == "" {
		return "", fmt.Errorf("the environment variable %s is not set", name)
	}
	return value, nil
}

// secretFile reads a file that nobody else can read. A path that leads nowhere may be the secret itself, so no error
// repeats it.
func (s source) secretFile(path string) (string, error) {
	text, err := private.ReadFile(s.path(path))
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return "", fmt.Errorf("the file cannot be read: %w; the path of a file is wanted, never the secret itself",
			e.Err)
	}
	if err != nil {
		return "", err
	}
	value := strings.TrimSpace(text)
	if value == "" {
		return "", fmt.Errorf("the file %s is empty", s.path(path))
	}
	return value, nil
}

// refuseLiteral refuses a key with a secret that is written into the file, and says what to write instead. Without it
// the error would only call the key unknown.
func refuseLiteral(key *yaml.Node, known map[string]setter) error {
	if !slices.Contains([]string{"key", "api_key", "apikey", "token", "secret", "password"}, key.Value) {
		return nil
	}
	for _, name := range []string{"key", "password"} {
		if known[name+"_env"] != nil {
			return errAt(key,
				"%s: a secret has no place in this file; put it into an environment variable and write %s_env: NAME, or into a file and write %s_file: PATH", key.Value, name, name)
		}
	}
	return nil
}
