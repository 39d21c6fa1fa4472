package httpapi

import (
	"slices"
	"strconv"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
	"github.com/imagegend/imagegend/internal/jsonscan"
)

// field is one field of a request for images. kind is the type that it must have in JSON; in a form
// everything is text. set gets the value as text: true or false, or the number as it was sent.
type field struct {
	name string
	kind jsonscan.Kind
	set  func(q *imagegen.GenerateRequest, v string) error
}

// fields are all that there are, except files. Their order is that of messages. They check only
// what does not depend on the model: the engine checks the rest.
var fields = []field{
	{"model", jsonscan.Text, func(q *imagegen.GenerateRequest, v string) error { q.Model = v; return nil }},
	{"prompt", jsonscan.Text, func(q *imagegen.GenerateRequest, v string) error { q.Prompt = v; return nil }},
	{"size", jsonscan.Text, setSize},
	{"quality", jsonscan.Text, setQuality},
	{"n", jsonscan.Number, setN},
	{"output_format", jsonscan.Text, func(q *imagegen.GenerateRequest, v string) error {
		return setChoice(&q.Options.Format, "output_format", v, imagegen.Formats())
	}},
	{"output_compression", jsonscan.Number, setCompression},
	{"background", jsonscan.Text, func(q *imagegen.GenerateRequest, v string) error {
		return setChoice(&q.Options.Background, "background", v, imagegen.Backgrounds())
	}},
	{"seed", jsonscan.Number, setSeed},
	{"max_credits", jsonscan.Number, func(q *imagegen.GenerateRequest, v string) (err error) {
		q.MaxCredits, err = serving.MaxCredits(v)
		return err
	}},
	{"async", jsonscan.Boolean, func(q *imagegen.GenerateRequest, v string) error {
		q.Async = v == "true"
		return nil
	}},
	{"user", jsonscan.Text, setUser},
	{"response_format", jsonscan.Text, checkResponseFormat},
}

// setUser takes what OpenAI's clients send. It changes nothing about the images, but calls with
// different users are never repetitions of each other, and with a key on behalf of people it names the one who asks.
func setUser(q *imagegen.GenerateRequest, v string) error {
	q.EndUser = v
	return nil
}

func setSize(q *imagegen.GenerateRequest, v string) (err error) {
	q.Size, err = imagegen.ParseSize(v)
	return err
}

func setQuality(q *imagegen.GenerateRequest, v string) error {
	q.Quality = imagegen.Quality(v)
	if !slices.Contains(imagegen.Qualities(), q.Quality) {
		return imagegen.Invalid("quality must be one of auto, low, medium, high; got %s", serving.Shown(v))
	}
	return nil
}

// setN leaves the model's limit to the engine. It refuses 0, which would mean to the engine that n is
// absent.
func setN(q *imagegen.GenerateRequest, v string) (err error) {
	if !serving.IsInteger(v) {
		return imagegen.Invalid("n must be an integer, such as 2; got %s", serving.Shown(v))
	}
	if q.N, err = strconv.Atoi(v); err != nil || q.N < 1 {
		return imagegen.Invalid("n must be from 1 to %d; got %s", imagegen.MaxImages, serving.Shorten(v))
	}
	return nil
}

// setChoice sets a field that takes one of a few words.
func setChoice[T ~string](to *T, name, v string, among []T) error {
	if *to = T(v); !slices.Contains(among, *to) {
		return imagegen.InvalidField(name, "%s must be one of %v; got %s", name, among, serving.Shown(v))
	}
	return nil
}

func setCompression(q *imagegen.GenerateRequest, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || !serving.IsInteger(v) {
		return imagegen.Invalid("output_compression must be an integer from 0 to %d; got %s", imagegen.MaxCompression,
			serving.Shown(v))
	}
	q.Options.Compression = &n
	return nil
}

func setSeed(q *imagegen.GenerateRequest, v string) error {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || !serving.IsInteger(v) {
		return imagegen.Invalid("seed must be an integer, such as 42; got %s", serving.Shown(v))
	}
	q.Options.Seed = &n
	return nil
}

// checkResponseFormat accepts what asks for addresses, which is how images are always answered.
func checkResponseFormat(_ *imagegen.GenerateRequest, v string) error {
	if v != "url" {
		return imagegen.Invalid(`response_format must be "url": images are answered as addresses; got %s`,
			serving.Shown(v))
	}
	return nil
}

// form collects the fields of a request, whatever its encoding.
type form struct {
	request imagegen.GenerateRequest
	seen    []string // the names that have come, also with null
}

// newForm returns a form without fields. Its calls may join each other, see [imagegen.JoinOptions]; the
// engine takes no notice of that where there is an idempotency key, or the work is asynchronous.
func newForm() form {
	return form{request: imagegen.GenerateRequest{Join: &imagegen.JoinOptions{}}}
}

// find returns the field of a name that has not been seen before.
func (f *form) find(name string) (field, error) {
	k, err := known(name)
	if err != nil {
		return field{}, err
	}
	return k, f.once(name)
}

// once refuses a name that has been seen before: which of two values counts would depend on the parser
// of a proxy in between.
func (f *form) once(name string) error {
	if slices.Contains(f.seen, name) {
		return imagegen.Invalid("%s was sent twice", name)
	}
	f.seen = append(f.seen, name)
	return nil
}

// known returns the field of a name. Any other name is an error: the caller would otherwise pay for an image that
// ignores it.
func known(name string) (field, error) {
	if i := slices.IndexFunc(fields, func(k field) bool { return k.name == name }); i >= 0 {
		return fields[i], nil
	}
	names := []string{referenceName, maskName}
	for _, f := range fields {
		names = append(names, f.name)
	}
	return field{}, imagegen.Invalid("unknown field %s; known are %s", serving.Unknown(name, names),
		strings.Join(names, ", "))
}

// setJSON sets a field from JSON, where types are strict and null means absent.
func (f *form) setJSON(name string, v jsonscan.Value) error {
	if isFile(name) {
		if v.Kind == jsonscan.Null {
			return f.once(name)
		}
		return imagegen.Invalid("%s is a file: send the request as multipart/form-data", name)
	}
	k, err := f.find(name)
	switch {
	case err != nil:
		return err
	case v.Kind == jsonscan.Null:
		return nil
	case v.Kind != k.kind:
		return imagegen.Invalid("%s must be %s; got %s", name, k.kind, v.Kind)
	}
	return k.set(&f.request, v.Text)
}

// setText sets a field from a form, where everything is text.
func (f *form) setText(name, v string) error {
	k, err := f.find(name)
	if err != nil {
		return err
	}
	if k.kind == jsonscan.Boolean {
		switch v {
		case "1":
			v = "true"
		case "0":
			v = "false"
		}
		if v != "true" && v != "false" {
			return imagegen.Invalid("%s must be one of true, false, 1, 0; got %s", name, serving.Shown(v))
		}
	}
	return k.set(&f.request, v)
}
