package catalog

import (
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/webapi"
)

// words is the vocabulary of a type with few values: names as the file has them, and the values that they mean, in
// the same order.
type words struct {
	names  []string
	values []any
}

// wordsOf is the vocabulary of a type whose values are written as they are.
func wordsOf[S ~string](values []S) (w words) {
	for _, v := range values {
		w.names, w.values = append(w.names, string(v)), append(w.values, v)
	}
	return w
}

// vocabulary lists the types with few values. A value of such a type can be nothing else.
var vocabulary = map[reflect.Type]words{
	reflect.TypeFor[imagegen.Quality]():      wordsOf(imagegen.Qualities()),
	reflect.TypeFor[imagegen.Ratio]():        wordsOf(imagegen.Ratios()),
	reflect.TypeFor[imagegen.Tier]():         wordsOf(imagegen.Tiers()),
	reflect.TypeFor[imagegen.Verification](): wordsOf(imagegen.Verifications()),
	reflect.TypeFor[imagegen.Metadata]():     wordsOf(imagegen.Metadatas()),
	reflect.TypeFor[imagegen.Class](): {[]string{"unknown", "invalid", "refused", "rate_limited", "unavailable",
		"blocked"},
		[]any{imagegen.ClassUnknown, imagegen.ClassInvalid, imagegen.ClassRefused, imagegen.ClassRateLimited,
			imagegen.ClassUnavailable, imagegen.ClassBlocked}},
	reflect.TypeFor[webapi.Form](): {[]string{"never", "edits", "always"}, []any{webapi.FormNever, webapi.FormEdits,
		webapi.FormAlways}},
	reflect.TypeFor[webapi.Encoding](): {[]string{"data_url", "base64"}, []any{webapi.DataURL, webapi.Base64}},
}

// readWord sets to to the value that n names.
func (w words) readWord(n *yaml.Node, to reflect.Value) error {
	i := slices.Index(w.names, n.Value)
	if i < 0 {
		return errAt(n, "one of %s is wanted; got %q", strings.Join(w.names, ", "), n.Value)
	}
	to.Set(reflect.ValueOf(w.values[i]))
	return nil
}

// readSpecial reads types whose Go kind does not say enough, such as a duration, which is an int64. done is false if
// to points to no such type.
func (s source) readSpecial(n *yaml.Node, to any, zero *int64) (done bool, err error) {
	switch to := to.(type) {
	case *time.Duration:
		*to, err = time.ParseDuration(n.Value)
		if err != nil || *to <= 0 {
			err = errAt(n, "a duration such as 500ms or 30s is wanted; got %q", n.Value)
		}
	case *imagegen.Size:
		*to, err = imagegen.ParseSize(n.Value)
		if err != nil || to.Auto() {
			err = errAt(n, "a size is WIDTHxHEIGHT with edges from %d to %d, such as 1024x768; got %q",
				imagegen.MinEdge, imagegen.MaxEdge, n.Value)
		}
	case *imagegen.Credits:
		err = readPrice(n, to, zero)
	case *map[imagegen.Tier]imagegen.Credits:
		if n.Kind != yaml.ScalarNode {
			return false, nil
		}
		var credits imagegen.Credits // one number for all tiers
		err = readPrice(n, &credits, nil)
		*to = imagegen.EveryTier(credits)
	case *imagegen.Micros:
		err = readMoney(n, to)
	case *map[imagegen.Tier]imagegen.Micros:
		if n.Kind != yaml.ScalarNode {
			return false, nil
		}
		var amount imagegen.Micros // one number for all tiers
		err = readMoney(n, &amount)
		*to = make(map[imagegen.Tier]imagegen.Micros)
		for _, t := range imagegen.Tiers() {
			(*to)[t] = amount
		}
	case *map[string]any:
		if n.Kind != yaml.MappingNode || n.Decode(to) != nil {
			err = errAt(n, `the model's input is wanted, with placeholders in quotes, such as {prompt: "{{prompt}}"}`)
		}
	case *[]byte:
		err = s.readFile(n, to)
	case *listed:
		*to, err = s.model(n)
	case *provided:
		*to, err = s.provider(n)
	default:
		return false, nil
	}
	return true, err
}

// readPrice refuses a price at which the largest request would overflow a balance.
func readPrice(n *yaml.Node, to *imagegen.Credits, zero *int64) error {
	if err := readInt(n, reflect.ValueOf(to).Elem(), zero); err != nil || *to == 0 {
		return err
	}
	if _, err := to.Times(imagegen.MaxImages); err != nil {
		return errAt(n, "%d images at %d credits are more than an account can hold", imagegen.MaxImages, *to)
	}
	return nil
}

// readMoney reads an amount of the operator's currency.
func readMoney(n *yaml.Node, to *imagegen.Micros) (err error) {
	if *to, err = imagegen.ParseMicros(n.Value); err != nil || n.Kind != yaml.ScalarNode {
		return errAt(n, "an amount such as 0.04 is wanted, with at most six decimals; got %q", n.Value)
	}
	return nil
}

// readFile reads the content of a file that models.yaml names.
func (s source) readFile(n *yaml.Node, to *[]byte) error {
	var name string
	err := readText(n, reflect.ValueOf(&name).Elem())
	if err != nil {
		return err
	}
	if *to, err = os.ReadFile(s.path(name)); err != nil {
		return errAt(n, "the file cannot be read: %v", err)
	}
	return nil
}

// readText reads a text. A number or a word such as true counts as the text that it is written as.
func readText(n *yaml.Node, to reflect.Value) error {
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		return errAt(n, "a text is wanted here")
	}
	to.SetString(n.Value)
	return nil
}

// readBool accepts what YAML calls a bool, so yes and on are texts.
func readBool(n *yaml.Node, to reflect.Value) error {
	if n.ShortTag() != "!!bool" || n.Decode(to.Addr().Interface()) != nil {
		return errAt(n, "write true or false; got %q", n.Value)
	}
	return nil
}

// readInt reads a whole number, from 1, or from 0 if zero is what a 0 becomes. yaml itself would cut 1.5 down to 1.
func readInt(n *yaml.Node, to reflect.Value, zero *int64) error {
	var v, least int64 = 0, 1
	if n.ShortTag() != "!!int" || n.Decode(&v) != nil {
		return errAt(n, "a whole number is wanted; got %q", n.Value)
	}
	if zero != nil {
		least = 0
	}
	if v < least {
		return errAt(n, "a whole number from %d is wanted; got %d", least, v)
	}
	if v == 0 {
		v = *zero
	}
	to.SetInt(v)
	return nil
}

// readNumber reads a number above 0: a 0 would mean that the key is absent.
func readNumber(n *yaml.Node, to reflect.Value) error {
	// YAML's .inf does not parse, and what Go parses as infinity is text to YAML: together the conditions leave
	// numbers.
	v, err := strconv.ParseFloat(n.Value, 64)
	if tag := n.ShortTag(); tag != "!!int" && tag != "!!float" || err != nil || !(v > 0) {
		return errAt(n, "a number above 0 is wanted; got %q", n.Value)
	}
	to.SetFloat(v)
	return nil
}
