package httpapi

import (
	"slices"
	"strconv"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// kind is the JSON type of a value.
type kind string

const (
	null     kind = "null"
	text     kind = "a string"
	number   kind = "a number"
	boolean  kind = "true or false"
	compound kind = "an object or array"
)

// value is one value of a request: the decoded string, or the literal as it was sent.
type value struct {
	kind kind
	text string
}

// field is one field of a request for images.
type field struct {
	name string
	kind kind
	set  func(q *imagegen.GenerateRequest, v string) error
}

var fields = []field{
	{"model", text, func(q *imagegen.GenerateRequest, v string) error { q.Model = v; return nil }},
	{"prompt", text, func(q *imagegen.GenerateRequest, v string) error { q.Prompt = v; return nil }},
	{"size", text, setSize},
	{"quality", text, setQuality},
	{"n", number, setN},
	{"async", boolean, func(q *imagegen.GenerateRequest, v string) error { q.Async = v == "true"; return nil }},
	{"user", text, setUser},
	{"response_format", text, checkResponseFormat},
}

// setUser takes what OpenAI's clients send. It asks for nothing, but a call of another user is no repetition.
func setUser(q *imagegen.GenerateRequest, v string) error {
	q.Joining.Also = append(q.Joining.Also, v)
	return nil
}

func setSize(q *imagegen.GenerateRequest, v string) (err error) {
	q.Size, err = imagegen.ParseSize(v)
	return err
}

func setQuality(q *imagegen.GenerateRequest, v string) error {
	q.Quality = imagegen.Quality(v)
	if !slices.Contains(imagegen.Qualities(), q.Quality) {
		return imagegen.Invalid("quality must be one of auto, low, medium, high; got %s", shown(v))
	}
	return nil
}

// setN leaves the model's limit to the engine, to which 0 means that n is absent.
func setN(q *imagegen.GenerateRequest, v string) (err error) {
	if !isInteger(v) {
		return imagegen.Invalid("n must be an integer, such as 2; got %s", shown(v))
	}
	if q.N, err = strconv.Atoi(v); err != nil || q.N < 1 {
		return imagegen.Invalid("n must be from 1 to %d; got %s", imagegen.MaxImages, shorten(v))
	}
	return nil
}

// isInteger takes -7, 0 and 42, but not 007, 1.0 or 1e3.
func isInteger(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && strings.Trim(s, "0123456789") == "" && (s[0] != '0' || s == "0")
}

func checkResponseFormat(_ *imagegen.GenerateRequest, v string) error {
	if v != "url" {
		return imagegen.Invalid(`response_format must be "url": images are answered as addresses; got %s`, shown(v))
	}
	return nil
}

// form collects the fields of a request, whatever its encoding.
type form struct {
	request imagegen.GenerateRequest
	seen    []string
}

// newForm is a form without fields.
func newForm() form {
	return form{request: imagegen.GenerateRequest{Joining: &imagegen.Joining{}}}
}

// find returns the field of a name that has not been seen before. others are those of known.
func (f *form) find(name string, others ...string) (field, error) {
	k, err := known(name, others...)
	if err != nil {
		return field{}, err
	}
	return k, f.once(name)
}

// once refuses a name that has been seen before.
func (f *form) once(name string) error {
	if slices.Contains(f.seen, name) {
		return imagegen.Invalid("%s was sent twice", name)
	}
	f.seen = append(f.seen, name)
	return nil
}

// known returns the field of a name. others are names that this encoding knows beyond the fields.
func known(name string, others ...string) (field, error) {
	i := slices.IndexFunc(fields, func(k field) bool { return k.name == name })
	if i < 0 {
		return field{}, unknownField(name, others)
	}
	return fields[i], nil
}

func unknownField(name string, others []string) error {
	known := others
	for _, f := range fields {
		known = append(known, f.name)
	}
	return imagegen.Invalid("unknown field %s; the nearest known one is %s; known are %s",
		shown(name), nearestField(name, known), strings.Join(known, ", "))
}

// setJSON sets a field from JSON, where types are strict and null means absent.
func (f *form) setJSON(name string, v value) error {
	if isReference(name) {
		if v.kind == null {
			return f.once(name)
		}
		return imagegen.Invalid("%s is a file: send the request as multipart/form-data", name)
	}
	k, err := f.find(name)
	switch {
	case err != nil:
		return err
	case v.kind == null:
		return nil
	case v.kind != k.kind:
		return imagegen.Invalid("%s must be %s; got %s", name, k.kind, v.kind)
	}
	return k.set(&f.request, v.text)
}

// setText sets a field from a form, where all is text.
func (f *form) setText(name, v string) error {
	k, err := f.find(name, referenceName)
	if err != nil {
		return err
	}
	if k.kind == boolean {
		switch v {
		case "1":
			v = "true"
		case "0":
			v = "false"
		}
		if v != "true" && v != "false" {
			return imagegen.Invalid("%s must be one of true, false, 1, 0; got %s", name, shown(v))
		}
	}
	return k.set(&f.request, v)
}
