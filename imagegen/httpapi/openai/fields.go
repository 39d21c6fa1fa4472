package openai

import (
	"slices"
	"strconv"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
	"github.com/imagegend/imagegend/internal/jsonscan"
)

// request is what a caller asks for, and how it wants to be answered.
type request struct {
	imagegen.GenerateRequest
	urls   bool     // answer with addresses of the images instead of the images
	stream bool     // answer with events
	images int      // reference images that have come, to refuse one too many before it is read
	seen   []string // names of fields that have come
}

// newRequest returns a request without fields. Its calls may join each other, see
// [imagegen.JoinOptions].
func newRequest() *request {
	return &request{GenerateRequest: imagegen.GenerateRequest{Join: &imagegen.JoinOptions{}}}
}

// field is one field of a request.
type field struct {
	name string
	kind jsonscan.Kind // of its value in JSON; in a form every value is text
	set  func(r *request, v string) error
}

// fields are all that have a value. They check what does not depend on the model; the service checks
// the rest, and its errors name the field too.
var fields = []field{
	{"model", jsonscan.Text, func(r *request, v string) error { r.Model = v; return nil }},
	{"prompt", jsonscan.Text, func(r *request, v string) error { r.Prompt = v; return nil }},
	{"n", jsonscan.Number, setN},
	{"size", jsonscan.Text, setSize},
	{"quality", jsonscan.Text, setQuality},
	{"response_format", jsonscan.Text, setResponseFormat},
	{"output_format", jsonscan.Text, func(r *request, v string) error {
		r.Options.Format = imagegen.Format(v)
		return nil
	}},
	{"output_compression", jsonscan.Number, setCompression},
	{"background", jsonscan.Text, func(r *request, v string) error {
		r.Options.Background = imagegen.Background(v)
		return nil
	}},
	{"moderation", jsonscan.Text, setModeration},
	{"style", jsonscan.Text, refuse("style", "cannot be chosen; say it in the prompt")},
	{"input_fidelity", jsonscan.Text, refuse("input_fidelity", "cannot be chosen; leave it out")},
	{"seed", jsonscan.Number, setSeed},
	{"max_credits", jsonscan.Number, func(r *request, v string) (err error) {
		r.MaxCredits, err = serving.MaxCredits(v)
		return err
	}},
	{"stream", jsonscan.Boolean, func(r *request, v string) error { r.stream = v == "true"; return nil }},
	{"partial_images", jsonscan.Number, checkPartialImages},
	{"user", jsonscan.Text, func(r *request, v string) error { r.EndUser = v; return nil }},
	{"safety_identifier", jsonscan.Text, also("safety_identifier\x00")},
}

// The fields of images: files in a form, objects in JSON.
const (
	fieldImage  = "image"
	fieldImages = "images"
	fieldMask   = "mask"
)

// fieldNames returns all names that there are, in either encoding.
func fieldNames() []string {
	names := []string{fieldImage, fieldImages, fieldMask}
	for _, f := range fields {
		names = append(names, f.name)
	}
	return names
}

// invalid is an ErrInvalidRequest about a field, whose message begins with its name.
func invalid(field, format string, args ...any) error {
	return imagegen.InvalidField(field, field+" "+format, args...)
}

// refuse returns the set function of a field of OpenAI's that this service cannot honour.
func refuse(name, what string) func(*request, string) error {
	return func(_ *request, v string) error { return invalid(name, "%s; got %s", what, serving.Shown(v)) }
}

// also returns the set function of a field that changes nothing about the images: calls that differ in
// it are never repetitions of each other. mark keeps the values of different fields apart.
func also(mark string) func(*request, string) error {
	return func(r *request, v string) error {
		r.Join.MatchValues = append(r.Join.MatchValues, mark+v)
		return nil
	}
}

// setN leaves the model's own limit to the service. It refuses 0, which would mean to the service that
// n is absent.
func setN(r *request, v string) (err error) {
	if r.N, err = strconv.Atoi(v); err != nil || !serving.IsInteger(v) || r.N < 1 || r.N > imagegen.MaxImages {
		return invalid("n", "must be an integer from 1 to %d; got %s", imagegen.MaxImages, serving.Shorten(v))
	}
	return nil
}

func setSize(r *request, v string) (err error) {
	r.Size, err = imagegen.ParseSize(v)
	return err
}

// qualities maps the qualities of all of OpenAI's models, old and new, to the service's.
var qualities = map[string]imagegen.Quality{"auto": imagegen.QualityAuto, "low": imagegen.QualityLow,
	"medium": imagegen.QualityMedium, "high": imagegen.QualityHigh, "standard": imagegen.QualityAuto,
	"hd": imagegen.QualityHigh}

func setQuality(r *request, v string) error {
	q, ok := qualities[v]
	if !ok {
		return invalid("quality", "must be one of auto, low, medium, high, standard, hd; got %s", serving.Shown(v))
	}
	r.Quality = q
	return nil
}

func setResponseFormat(r *request, v string) error {
	if v != "b64_json" && v != "url" {
		return invalid("response_format", "must be b64_json or url; got %s", serving.Shown(v))
	}
	r.urls = v == "url"
	return nil
}

// setCompression leaves the range, and whether the model offers it, to the service.
func setCompression(r *request, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || !serving.IsInteger(v) {
		return invalid("output_compression", "must be an integer from 0 to %d; got %s", imagegen.MaxCompression,
			serving.Shorten(v))
	}
	r.Options.Compression = &n
	return nil
}

func setSeed(r *request, v string) error {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || !serving.IsInteger(v) {
		return invalid("seed", "must be an integer, such as 42; got %s", serving.Shorten(v))
	}
	r.Options.Seed = &n
	return nil
}

// setModeration takes only the usual moderation: which one there is, the provider decides.
func setModeration(_ *request, v string) error {
	if v != "auto" {
		return invalid("moderation", "must be auto: it is the provider's to decide; got %s", serving.Shown(v))
	}
	return nil
}

// maxPartial is the highest partial_images of OpenAI's API, which promises none: so this service accepts
// the field, and sends only finished images.
const maxPartial = 3

func checkPartialImages(_ *request, v string) error {
	if n, err := strconv.Atoi(v); err != nil || !serving.IsInteger(v) || n < 0 || n > maxPartial {
		return invalid("partial_images", "must be an integer from 0 to %d; got %s", maxPartial, serving.Shorten(v))
	}
	return nil
}

// find returns the field of a name, which can come once. A field of images has no value, so it is
// refused with what to send instead.
func (r *request) find(name string) (field, error) {
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	switch {
	case i >= 0:
	case name == fieldImage || name == fieldImages || name == fieldMask:
		return field{},
			invalid(name,
				"belongs to %s: as a file of a form, image, image[] or mask, or in JSON as images or mask with an image_url each", pathEdit)
	default:
		return field{}, unknown(name)
	}
	return fields[i], r.once(name)
}

// findInForm is find for a field of a form.
func (r *request) findInForm(name string) (field, error) {
	if name == fieldImages {
		return field{}, invalid(name, "is a field of JSON; in a form, send each as image or image[]")
	}
	return r.find(name)
}

func (r *request) once(name string) error {
	if slices.Contains(r.seen, name) {
		return invalid(name, "was sent twice")
	}
	r.seen = append(r.seen, name)
	return nil
}

// unknown is the error for a name that is not a field.
func unknown(name string) error {
	names := fieldNames()
	return imagegen.InvalidField(serving.Shorten(name), "unknown field %s; known are %s", serving.Unknown(name, names),
		strings.Join(names, ", "))
}

// setJSON sets a field from JSON, where types are strict and null means absent.
func (r *request) setJSON(name string, v jsonscan.Value) error {
	if v.Kind == jsonscan.Null && slices.Contains([]string{fieldImage, fieldImages, fieldMask}, name) {
		return r.once(name)
	}
	f, err := r.find(name)
	switch {
	case err != nil:
		return err
	case v.Kind == jsonscan.Null:
		return nil
	case v.Kind != f.kind:
		return invalid(name, "must be %s; got %s", f.kind, v.Kind)
	}
	return f.set(r, v.Text)
}

// setText sets a field from a form, where everything is text.
func (r *request) setText(name, v string) error {
	f, err := r.findInForm(name)
	if err != nil {
		return err
	}
	if f.kind == jsonscan.Boolean && v != "true" && v != "false" {
		return invalid(name, "must be true or false; got %s", serving.Shown(v))
	}
	return f.set(r, v)
}
