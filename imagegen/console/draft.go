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

// ownSize is the value of the field ratio that makes width and height count.
const ownSize = "own"

// draft is what the playground's form asks for. With faults in the form it is incomplete.
type draft struct {
	form    *form
	model   imagegen.ModelInfo
	tier    imagegen.Tier // chosen; an exact size has its own
	request imagegen.GenerateRequest
	quote   imagegen.Quote
	priced  bool // quote is there
}

// draft reads the form and asks the engine for the price. Faults stand beside their fields.
func (p *page) draft(f *form, references int) (*draft, error) {
	models, err := p.service().Models(p.context())
	if err != nil {
		return nil, err
	}
	d := &draft{form: f}
	d.request = imagegen.GenerateRequest{Prompt: cmp.Or(f.prompt(), examplePrompt), Async: true,
		References: make([]imagegen.Reference, references)}
	if len(models) == 0 {
		f.blameAll("No model is on offer.")
		return d, nil
	}
	d.chooseModel(models)
	d.chooseShape()
	d.chooseNumber()
	d.chooseQuality()
	d.chooseOptions()
	d.checkAmounts()
	if f.valid() {
		err = d.ask(p.service())
	}
	return d, err
}

// prompt is the prompt as a program would send it: a browser sends each line break as two characters.
func (f *form) prompt() string { return strings.ReplaceAll(f.Value("prompt"), "\r\n", "\n") }

// redraft is draft where what the model does not offer gives way to what it does.
func (p *page) redraft(f *form, references int) (*draft, error) {
	for {
		d, err := p.draft(f, references)
		if err != nil || f.valid() || !f.giveWay("model", "ratio", "tier", "n", "quality", "output_format", "background", "seed") {
			return d, err
		}
	}
}

// giveWay empties those of the fields that have a fault, and reports whether there was one.
func (f *form) giveWay(names ...string) (any bool) {
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

func (d *draft) chooseModel(models []imagegen.ModelInfo) {
	id := d.form.Value("model")
	i := slices.IndexFunc(models, func(m imagegen.ModelInfo) bool { return m.ID == id })
	if i < 0 {
		i = 0
		if id != "" {
			d.form.blame("model", "%s is not on offer; choose another model.", id)
		}
	}
	d.model = models[i]
	d.request.Model = d.model.ID
}

// chooseShape makes a size of the ratio and the tier: the API knows neither.
func (d *draft) chooseShape() {
	d.tier = imagegen.Tier(d.form.Value("tier"))
	if d.tier == "" {
		d.tier = d.model.Tiers[0]
	}
	if !slices.Contains(d.model.Tiers, d.tier) {
		d.form.blame("tier", "%s does not offer this resolution; choose another.", d.model.ID)
	}
	ratio := imagegen.Ratio(cmp.Or(d.form.Value("ratio"), string(imagegen.RatioAuto)))
	switch {
	case ratio == ownSize:
		d.chooseSize()
	case !slices.Contains(d.model.Ratios, ratio):
		d.form.blame("ratio", "%s does not offer this shape; choose another.", d.model.ID)
	case ratio != imagegen.RatioAuto:
		d.request.Size = imagegen.SizeFor(ratio, d.tier)
	}
}

func (d *draft) chooseSize() {
	z, err := imagegen.ParseSize(d.form.Value("width") + "x" + d.form.Value("height"))
	if err != nil {
		d.form.blame("size", "Give both edges in whole pixels, from %d to %d.", imagegen.MinEdge, imagegen.MaxEdge)
	}
	d.request.Size = z
}

func (d *draft) own() bool { return d.form.Value("ratio") == ownSize }

func (d *draft) chooseNumber() {
	n, err := strconv.Atoi(cmp.Or(d.form.Value("n"), "1"))
	if err != nil || n < 1 || n > d.model.MaxImages {
		d.form.blame("n", "Choose from 1 to %d images.", d.model.MaxImages)
	}
	d.request.N = n
}

func (d *draft) chooseQuality() {
	d.request.Quality = imagegen.Quality(cmp.Or(d.form.Value("quality"), string(imagegen.QualityAuto)))
	if !slices.Contains(imagegen.Qualities(), d.request.Quality) {
		d.form.blame("quality", "Choose auto, low, medium or high.")
	}
}

// chooseOptions takes those that the model has.
func (d *draft) chooseOptions() {
	o := &d.request.Options
	if o.Format = imagegen.Format(d.form.Value("output_format")); o.Format != "" && !slices.Contains(d.model.Formats, o.Format) {
		d.form.blame("output_format", "%s does not make this format; choose another.", d.model.ID)
	}
	if o.Background = imagegen.Background(d.form.Value("background")); o.Background != "" && !slices.Contains(d.model.Backgrounds, o.Background) {
		d.form.blame("background", "%s does not make this background; choose another.", d.model.ID)
	}
	if o.Background == imagegen.BackgroundTransparent && o.Format == imagegen.FormatJPEG {
		d.form.blame("background", "A JPEG has no transparency; choose another format.")
	}
	text := strings.TrimSpace(d.form.Value("seed"))
	if text == "" {
		return
	}
	seed, err := strconv.ParseInt(text, 10, 64)
	if last := d.model.MaxSeed - int64(d.request.N) + 1; err != nil || seed < 0 || seed > last {
		d.form.blame("seed", "Give a whole number from 0 to %d.", last)
	}
	if d.model.MaxSeed == 0 {
		d.form.blame("seed", "%s takes no seed; leave it empty.", d.model.ID)
	}
	o.Seed = &seed
}

func (d *draft) checkAmounts() {
	if n := len([]rune(d.request.Prompt)); n > d.model.MaxPrompt {
		d.form.blame("prompt", "The prompt has %s; %s takes %d. Shorten it.", count(n, "character", "characters"), d.model.ID, d.model.MaxPrompt)
	}
	if n := len(d.request.References); n > d.model.MaxReferences {
		d.form.blame(referenceField, "%s were chosen; %s takes %d at most.", count(n, "image", "images"), d.model.ID, d.model.MaxReferences)
	}
}

// ask has the engine price the draft. What decides the tier is the service's affair, and may be the
// quality: auto stands for the first quality that leads to the tier that was chosen.
func (d *draft) ask(s *engine.Session) error {
	asked, qualities := d.request.Quality, []imagegen.Quality{d.request.Quality}
	if asked == imagegen.QualityAuto {
		qualities = imagegen.Qualities()
	}
	var refusal error
	var other imagegen.Tier
	for _, d.request.Quality = range qualities {
		quote, err := s.Price(d.request)
		switch {
		case err != nil:
			refusal = cmp.Or(refusal, err)
		case d.own() || quote.Tier == d.tier:
			d.quote, d.priced = quote, true
			return nil
		default:
			other = quote.Tier
		}
	}
	d.request.Quality = asked
	if other != "" {
		d.form.blame("quality", "With this shape, quality %s is made and priced as %s. Choose auto, or %s.", asked, other, other)
		return nil
	}
	field := ""
	switch {
	case d.own():
		field = "size"
	case asked != imagegen.QualityAuto && d.request.Size.Auto(): // it decides the tier
		field = "quality"
	}
	return d.form.refuse(field, refusal)
}
