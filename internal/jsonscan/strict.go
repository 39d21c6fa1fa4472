package jsonscan

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// What a text may hold for Check. No request of an ordinary program comes near; what decodes a text later takes many
// times its bytes for each value, and some of it for each level.
const (
	maxDepth  = 32
	maxValues = 4096
)

// Check reads b as one value with nothing behind it, and refuses what two readers could understand differently: a
// name that stands twice in an object, and text that is not UTF-8. It also refuses more than 4096 values, and values
// that lie more than 32 deep.
func Check(b []byte) error { return checkWords(b, "") }

// Unmarshal decodes b into v after Check. Unlike that of encoding/json it refuses a name that no field has exactly.
// The names of all fields of v must be of lower-case letters, digits and underscores.
func Unmarshal(b []byte, v any) error {
	if err := checkWords(b, "abcdefghijklmnopqrstuvwxyz0123456789_"); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

func checkWords(b []byte, letters string) error {
	s := &strict{Scanner: Scanner{buf: b}, letters: letters}
	if err := s.value(0); err != nil {
		return err
	}
	return s.End()
}

// strict reads a text for Check.
type strict struct {
	Scanner
	letters string // of which names must be; "": of any
	values  int
}

// value reads one value, whole.
func (s *strict) value(depth int) error {
	v, err := s.Value()
	if err != nil {
		return err
	}
	if s.values++; s.values > maxValues || depth > maxDepth {
		return imagegen.Invalid("the JSON body has more than %d values, or lies more than %d deep", maxValues, maxDepth)
	}
	if v.Kind != Compound {
		return nil
	}
	if s.AtArray() {
		return s.Array(func() error { return s.value(depth + 1) })
	}
	seen := make(map[string]bool)
	return s.Object(func(name string) error {
		switch {
		case seen[name]:
			return imagegen.Invalid("%.40q was sent twice", name)
		case s.letters != "" && strings.Trim(name, s.letters) != "":
			return imagegen.Invalid("unknown field %.40q", name)
		}
		seen[name] = true
		return s.value(depth + 1)
	})
}
