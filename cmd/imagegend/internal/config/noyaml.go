package config

import (
	"errors"
	"fmt"
	"regexp"
)

// yamlWords take apart what the parser says. Its line can be one too low.
var yamlWords = regexp.MustCompile(`(?s)yaml: (?:unmarshal errors:\s+)?(?:line (\d+): )?(.*)`)

// noYAML says in plain words why a text is no YAML.
func noYAML(err error) error {
	said := yamlWords.FindStringSubmatch(err.Error())
	switch {
	case said == nil:
		return err
	case said[1] == "":
		return errors.New("this is no YAML: " + said[2])
	}
	return fmt.Errorf("this is no YAML near line %s: %s", said[1], said[2])
}
