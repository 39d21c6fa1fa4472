package console

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// examplePrompt stands where a price or a sample needs a prompt before there is one.
const examplePrompt = "A red fox in fresh snow, early morning light"

// exactSize is the value of the field ratio that makes width and height count.
const exactSize = "own"

// formRequest is what the playground's form asks for. With faults in the form it is incomplete.
type formRequest struct {
	form    *form
	model   imagegen.ModelInfo
	tier    imagegen.Tier // chosen; an exact size has its own
	request imagegen.GenerateRequest
	quote   imagegen.Quote
	priced  bool // quote is there
}

// formRequest reads the form and asks the engine for the price. Faults stand beside their fields.
func (p *page) formRequest(f *form, references int) (*formRequest, error) {
	models, err := p.service().Models(p.context())
	if err != nil {
		return nil, err
	}
	q := &formRequest{form: f}
	q.request = imagegen.GenerateRequest{Prompt: cmp.Or(f.prompt(), examplePrompt), Async: true,
		References: make([]imagegen.Reference, references)}
	if len(models) == 0 {
		f.addFormFault("No model is on offer.")
		return q, nil
	}
	q.chooseModel(models)
	q.chooseShape()
	q.chooseNumber()
	q.chooseQuality()
	q.chooseOptions()
	q.checkAmounts()
	if f.valid() {
		err = q.price(p.service())
	}
	return q, err
}

// prompt is the prompt as a program would send it: a browser sends each line break as two characters.
func (f *form) prompt() string { return strings.ReplaceAll(f.Value("prompt"), "\r\n", "\n") }

// adaptedFormRequest is formRequest where what the model does not offer gives way to what it does.
func (p *page) adaptedFormRequest(f *form, references int) (*formRequest, error) {
	for {
		q, err := p.formRequest(f, references)
		if err != nil || f.valid() || !f.clearFaulty("model", "ratio", "tier", "n", "quality", "output_format", "background", "seed") {
			return q, err
		}
	}
}

// clearFaulty empties those of the fields that have a fault, and reports whether there was one.
func (f *form) clearFaulty(names ...string) (any bool) {
	for _, name := range names {
		if f.Fault(name) != "" && f.Value(name) != "" {
			f.values.Del(name)
			any = true
		}
	}
	if any {
		f.faults, f.fault = nil, ""
	}
	return any
}

func (q *formRequest) chooseModel(models []imagegen.ModelInfo) {
	id := q.form.Value("model")
	i := slices.IndexFunc(models, func(m imagegen.ModelInfo) bool { return m.ID == id })
	if i < 0 {
		i = 0
		if id != "" {
			q.form.addFault("model", "%s is not on offer; choose another model.", id)
		}
	}
	q.model = models[i]
	q.request.Model = q.model.ID
}

// chooseShape makes a size of the ratio and the tier: the API knows neither.
func (q *formRequest) chooseShape() {
	q.tier = imagegen.Tier(q.form.Value("tier"))
	if q.tier == "" {
		q.tier = q.model.Tiers[0]
	}
	if !slices.Contains(q.model.Tiers, q.tier) {
		q.form.addFault("tier", "%s does not offer this resolution; choose another.", q.model.ID)
	}
	ratio := imagegen.Ratio(cmp.Or(q.form.Value("ratio"), string(imagegen.RatioAuto)))
	switch {
	case ratio == exactSize:
		q.chooseSize()
	case !slices.Contains(q.model.Ratios, ratio):
		q.form.addFault("ratio", "%s does not offer this shape; choose another.", q.model.ID)
	case ratio != imagegen.RatioAuto:
		q.request.Size = imagegen.SizeFor(ratio, q.tier)
	}
}

func (q *formRequest) chooseSize() {
	z, err := imagegen.ParseSize(q.form.Value("width") + "x" + q.form.Value("height"))
	if err != nil {
		q.form.addFault("size", "Give both edges in whole pixels, from %d to %d.", imagegen.MinEdge, imagegen.MaxEdge)
	}
	q.request.Size = z
}

func (q *formRequest) exactSize() bool { return q.form.Value("ratio") == exactSize }

func (q *formRequest) chooseNumber() {
	n, err := strconv.Atoi(cmp.Or(q.form.Value("n"), "1"))
	if err != nil || n < 1 || n > q.model.MaxImages {
		q.form.addFault("n", "Choose from 1 to %d images.", q.model.MaxImages)
	}
	q.request.N = n
}

func (q *formRequest) chooseQuality() {
	q.request.Quality = imagegen.Quality(cmp.Or(q.form.Value("quality"), string(imagegen.QualityAuto)))
	if !slices.Contains(imagegen.Qualities(), q.request.Quality) {
		q.form.addFault("quality", "Choose auto, low, medium or high.")
	}
}

// chooseOptions takes those that the model has.
func (q *formRequest) chooseOptions() {
	o := &q.request.Options
	if o.Format = imagegen.Format(q.form.Value("output_format")); o.Format != "" && !slices.Contains(q.model.Formats, o.Format) {
		q.form.addFault("output_format", "%s does not make this format; choose another.", q.model.ID)
	}
	if o.Background = imagegen.Background(q.form.Value("background")); o.Background != "" && !slices.Contains(q.model.Backgrounds, o.Background) {
		q.form.addFault("background", "%s does not make this background; choose another.", q.model.ID)
	}
	if o.Background == imagegen.BackgroundTransparent && o.Format == imagegen.FormatJPEG {
		q.form.addFault("background", "A JPEG has no transparency; choose another format.")
	}
	text := strings.TrimSpace(q.form.Value("seed"))
	if text == "" {
		return
	}
	seed, err := strconv.ParseInt(text, 10, 64)
	if last := q.model.MaxSeed - int64(q.request.N) + 1; err != nil || seed < 0 || seed > last {
		q.form.addFault("seed", "Give a whole number from 0 to %d.", last)
	}
	if q.model.MaxSeed == 0 {
		q.form.addFault("seed", "%s takes no seed; leave it empty.", q.model.ID)
	}
	o.Seed = &seed
}

func (q *formRequest) checkAmounts() {
	if n := len([]rune(q.request.Prompt)); n > q.model.MaxPrompt {
		q.form.addFault("prompt", "The prompt has %s; %s takes %d. Shorten it.", count(n, "character", "characters"), q.model.ID, q.model.MaxPrompt)
	}
	if n := len(q.request.References); n > q.model.MaxReferences {
		q.form.addFault(referenceField, "%s were chosen; %s takes %d at most.", count(n, "image", "images"), q.model.ID, q.model.MaxReferences)
	}
}

// price has the engine price the draft. What decides the tier is the service's affair, and may be the
// quality: auto stands for the first quality that leads to the tier that was chosen.
func (q *formRequest) price(s *engine.Session) error {
	asked, qualities := q.request.Quality, []imagegen.Quality{q.request.Quality}
	if asked == imagegen.QualityAuto {
		qualities = imagegen.Qualities()
	}
	var refusal error
	var other imagegen.Tier
	for _, q.request.Quality = range qualities {
		quote, err := s.Price(q.request)
		switch {
		case err != nil:
			refusal = cmp.Or(refusal, err)
		case q.exactSize() || quote.Tier == q.tier:
			q.quote, q.priced = quote, true
			return nil
		default:
			other = quote.Tier
		}
	}
	q.request.Quality = asked
	if other != "" {
		q.form.addFault("quality", "With this shape, quality %s is made and priced as %s. Choose auto, or %s.", asked, other, other)
		return nil
	}
	field := ""
	switch {
	case q.exactSize():
		field = "size"
	case asked != imagegen.QualityAuto && q.request.Size.Auto(): // it decides the tier
		field = "quality"
	}
	return q.form.refuse(field, refusal)
}
