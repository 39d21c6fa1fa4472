package catalog

import (
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/imagegen"
)

// text reads a plain text.
func text(to *string) setter {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || n.Value == "" {
			return errAt(n, "a text is wanted here")
		}
		*to = n.Value
		return nil
	}
}

// whole reads a whole number. yaml itself would cut 1.5 down to 1.
func whole[T ~int | ~int64](to *T) setter {
	return func(n *yaml.Node) error {
		if n.ShortTag() != "!!int" || n.Decode(to) != nil {
			return errAt(n, "a whole number is wanted; got %q", n.Value)
		}
		return nil
	}
}

// count reads a whole number from 1.
func count(to *int) setter { return atLeast(1, to) }

// atLeast reads a whole number that has no upper bound here.
func atLeast(least int, to *int) setter {
	return func(n *yaml.Node) error {
		if err := whole(to)(n); err != nil {
			return err
		}
		if *to < least {
			return errAt(n, "a whole number from %d is wanted; got %d", least, *to)
		}
		return nil
	}
}

// number reads a number greater than 0: what is left out has its default.
func number(to *float64) setter {
	return func(n *yaml.Node) error {
		v, err := strconv.ParseFloat(n.Value, 64)
		if tag := n.ShortTag(); tag != "!!int" && tag != "!!float" || err != nil || !(v > 0) {
			return errAt(n, "a number above 0 is wanted; got %q", n.Value)
		}
		*to = v
		return nil
	}
}

// yes reads true or false.
func yes(to *bool) setter {
	return func(n *yaml.Node) error {
		if n.ShortTag() != "!!bool" || n.Decode(to) != nil {
			return errAt(n, "write true or false; got %q", n.Value)
		}
		return nil
	}
}

// duration reads a length of time with its unit.
func duration(to *time.Duration) setter {
	return func(n *yaml.Node) error {
		d, err := time.ParseDuration(n.Value)
		if err != nil || d <= 0 {
			return errAt(n, "a duration such as 500ms or 30s is wanted; got %q", n.Value)
		}
		*to = d
		return nil
	}
}

// texts reads a list of plain texts.
func texts(to *[]string) setter {
	return each(func(n *yaml.Node) error {
		var s string
		err := text(&s)(n)
		*to = append(*to, s)
		return err
	})
}

// sizes reads a list of sizes.
func sizes(to *[]imagegen.Size) setter {
	return each(func(n *yaml.Node) error {
		z, err := size(n)
		*to = append(*to, z)
		return err
	})
}

func size(n *yaml.Node) (imagegen.Size, error) {
	z, err := imagegen.ParseSize(n.Value)
	if err != nil || z.Auto() {
		return z, errAt(n, "a size is WIDTHxHEIGHT with edges from %d to %d, such as 1024x768; got %q", imagegen.MinEdge, imagegen.MaxEdge, n.Value)
	}
	return z, nil
}

// references reads how many reference images a provider takes.
func references(set func(int)) setter { return limit(set, 0, imagegen.MaxReferences) }

// maxPrompt reads how many characters a prompt may have.
func maxPrompt(to *int) setter { return limit(func(v int) { *to = v }, 1, imagegen.MaxPromptRunes) }
