package playground

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// examplePrompt is used for prices and samples until there is a prompt.
const examplePrompt = "A red fox in fresh snow, early morning light"

// exactSize is the value of the form's ratio that makes its width and height count.
const exactSize = "own"

// formRequest is the request that the playground's form describes, with its price. If the form has faults, the
// request is incomplete and has no price.
type formRequest struct {
	form    *form.Form
	model   imagegen.ModelInfo // the first on offer if the form names none; zero: no model is on offer
	tier    imagegen.Tier      // the chosen one; it does not count for an exact size, which decides its tier itself
	request imagegen.GenerateRequest
	quote   imagegen.Quote
	priced  bool // quote is set
}

// counted says which files come with a form.
type counted struct {
	references int
	mask       bool
}

// newFormRequest reads the form and asks the engine for the price. What is wrong becomes a fault of its field, not an
// error. The files themselves do not matter for the price, only how many there are.
func newFormRequest(p *frame.Page, f *form.Form, files counted) (*formRequest, error) {
	models, err := p.Service().Models(p.Context())
	if err != nil {
		return nil, err
	}
	q := &formRequest{form: f}
	// Browsers send each line break in a form as CR LF, and programs would not.
	prompt := strings.ReplaceAll(f.Value("prompt"), "\r\n", "\n")
	q.request = imagegen.GenerateRequest{Prompt: cmp.Or(prompt, examplePrompt), Async: true,
		References: make([]imagegen.Reference, files.references)}
	if files.mask {
		q.request.Mask = imagegen.Counted{}
	}
	if len(models) == 0 {
		f.AddFault("", "No model is on offer.")
		return q, nil
	}
	// The model comes first, since it decides what the other fields may be. After a fault the rest is read all the
	// same, so that all faults are shown at once; only the price needs a form without faults.
	q.chooseModel(models)
	q.chooseShape()
	q.chooseNumber()
	q.chooseQuality()
	q.chooseOptions()
	q.checkAmounts()
	if f.Valid() {
		err = q.price(p.Context(), p.Service())
	}
	return q, err
}

// adaptedFormRequest is newFormRequest after the user has changed the model: choices that it does not offer are reset
// to its defaults. Clearing one field can bring up a fault of another, so it repeats until none can be cleared. It
// ends, since each round clears a field.
func adaptedFormRequest(p *frame.Page, f *form.Form, files counted) (*formRequest, error) {
	for {
		q, err := newFormRequest(p, f, files)
		if err != nil || f.Valid() || !clearFaulty(f, "model", "ratio", "tier", "n", "quality", "output_format",
			"background", "seed") {
			return q, err
		}
	}
}

// clearFaulty empties the fields among names that have a fault, and reports whether there were any. If so, it removes
// all faults, since the form is then read again.
func clearFaulty(f *form.Form, names ...string) (any bool) {
	for _, name := range names {
		if f.Fault(name) != "" && f.Value(name) != "" {
			f.Values.Del(name)
			any = true
		}
	}
	if any {
		f.ClearFaults()
	}
	return any
}

// chooseModel falls back to the first model, so that the rest of the form has something to offer.
func (q *formRequest) chooseModel(models []imagegen.ModelInfo) {
	id := q.form.Value("model")
	i := slices.IndexFunc(models, func(m imagegen.ModelInfo) bool { return m.ID == id })
	if i < 0 {
		i = 0
		if id != "" {
			q.form.AddFault("model", "%s is not on offer; choose another model.", id)
		}
	}
	q.model = models[i]
	q.request.Model = q.model.ID
}

// chooseShape turns ratio and tier into a size, since a request has only that. For the ratio auto the size stays auto.
func (q *formRequest) chooseShape() {
	q.tier = cmp.Or(imagegen.Tier(q.form.Value("tier")), q.model.Tiers[0])
	if !slices.Contains(q.model.Tiers, q.tier) {
		q.form.AddFault("tier", "%s does not offer this resolution; choose another.", q.model.ID)
	}
	ratio := imagegen.Ratio(cmp.Or(q.form.Value("ratio"), string(imagegen.RatioAuto)))
	switch {
	case ratio == exactSize:
		q.chooseSize()
	case !slices.Contains(q.model.Ratios, ratio):
		q.form.AddFault("ratio", "%s does not offer this shape; choose another.", q.model.ID)
	case ratio != imagegen.RatioAuto:
		q.request.Size = imagegen.SizeFor(ratio, q.tier)
	}
}

// chooseSize reads an exact size. Whether the model can make it is decided with the price.
func (q *formRequest) chooseSize() {
	z, err := imagegen.ParseSize(q.form.Value("width") + "x" + q.form.Value("height"))
	if err != nil {
		q.form.AddFault("size", "Give both edges in whole pixels, from %d to %d.", imagegen.MinEdge, imagegen.MaxEdge)
	}
	q.request.Size = z
}

// exactSize reports whether the form asks for a size in pixels instead of a ratio and a tier.
func (q *formRequest) exactSize() bool { return q.form.Value("ratio") == exactSize }

func (q *formRequest) chooseNumber() {
	n, err := strconv.Atoi(cmp.Or(q.form.Value("n"), "1"))
	if err != nil || n < 1 || n > q.model.MaxImages {
		q.form.AddFault("n", "Choose from 1 to %d images.", q.model.MaxImages)
	}
	q.request.N = n
}

func (q *formRequest) chooseQuality() {
	q.request.Quality = imagegen.Quality(cmp.Or(q.form.Value("quality"), string(imagegen.QualityAuto)))
	if !slices.Contains(imagegen.Qualities(), q.request.Quality) {
		q.form.AddFault("quality", "Choose auto, low, medium or high.")
	}
}

// chooseOptions reads format, background and seed. A model without a choice has no such fields in the form, so they are
// empty. With n images the seeds from Seed to Seed+n-1 are used, all of which must be within the model's range.
func (q *formRequest) chooseOptions() {
	o := &q.request.Options
	o.Format = imagegen.Format(q.form.Value("output_format"))
	if o.Format != "" && !slices.Contains(q.model.Formats, o.Format) {
		q.form.AddFault("output_format", "%s does not make this format; choose another.", q.model.ID)
	}
	o.Background = imagegen.Background(q.form.Value("background"))
	if o.Background != "" && !slices.Contains(q.model.Backgrounds, o.Background) {
		q.form.AddFault("background", "%s does not make this background; choose another.", q.model.ID)
	}
	if o.Background == imagegen.BackgroundTransparent && o.Format == imagegen.FormatJPEG {
		q.form.AddFault("background", "A JPEG has no transparency; choose another format.")
	}
	text := strings.TrimSpace(q.form.Value("seed"))
	if text == "" {
		return
	}
	seed, err := strconv.ParseInt(text, 10, 64)
	switch last := q.model.MaxSeed - int64(q.request.N) + 1; {
	case q.model.MaxSeed == 0:
		q.form.AddFault("seed", "%s takes no seed; leave it empty.", q.model.ID)
	case err != nil || seed < 0 || seed > last:
		q.form.AddFault("seed", "Give a whole number from 0 to %d.", last)
	}
	o.Seed = &seed
}

// checkAmounts checks the lengths that depend on the model, so that the fault is beside its field. The engine checks
// them again.
func (q *formRequest) checkAmounts() {
	if n := len([]rune(q.request.Prompt)); n > q.model.MaxPrompt {
		q.form.AddFault("prompt", "The prompt has %s; %s takes %d. Shorten it.",
			format.Count(n, "character", "characters"), q.model.ID, q.model.MaxPrompt)
		q.request.Prompt = examplePrompt // for the samples, which would each repeat it
	}
	if n := len(q.request.References); n > q.model.MaxReferences {
		q.form.AddFault(referenceField, "%s were chosen; %s takes %d at most.",
			format.Count(n, "image", "images"), q.model.ID, q.model.MaxReferences)
	}
}

// price asks the engine for the price. The policy of the service decides which tier a request gets, and the quality may
// influence that. So quality auto stands for the first quality that leads to the chosen tier, and is replaced by it. A
// quality that the user chose, and that leads to another tier, is a fault: they would pay for a tier that they did not
// choose.
func (q *formRequest) price(ctx context.Context, s *engine.Session) error {
	asked, qualities := q.request.Quality, []imagegen.Quality{q.request.Quality}
	if asked == imagegen.QualityAuto {
		qualities = imagegen.Qualities()
	}
	var refusal error
	var other imagegen.Tier
	for _, q.request.Quality = range qualities {
		quote, err := s.Price(ctx, q.request)
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
	// No quality leads to the chosen tier. If one could be priced at all, the quality is at fault; otherwise what the
	// engine refused.
	q.request.Quality = asked
	if other != "" {
		q.form.AddFault("quality", "With this shape, quality %s is made and priced as %s. Choose auto, or %s.",
			asked, other, other)
		return nil
	}
	field := ""
	switch e, _ := errors.AsType[*imagegen.Error](refusal); {
	case e != nil && e.Field == maskField:
		field = maskField
	case q.exactSize():
		field = "size"
	case asked != imagegen.QualityAuto && q.request.Size.Auto(): // then the quality decides the tier
		field = "quality"
	}
	return q.form.AddError(field, refusal)
}
