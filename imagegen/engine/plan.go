package engine

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/uploads"
)

// plan validates a request. It is a pure function of the request and the
// catalog; what it costs, Engine.price says. References are only counted, since they are checked when they are staged.
// If it refuses the request, the record still says what was asked for, so that Session.refuse
// can find what it repeats.
//
// The checks build on each other: each field alone, then ratio and tier as the policy
// decides them, then what the provider declares, and last its Check, if it is a Checker, which may take
// all of that for granted. A size that the policy or the Capabilities refuse comes with the
// nearest possible one.
func (e *Engine) plan(u imagegen.UserID, v view, q imagegen.GenerateRequest) (imagegen.Record, catalogEntry,
	error) {
	if err := u.Check(); err != nil {
		return imagegen.Record{}, catalogEntry{}, err
	}
	r := imagegen.Record{Intent: imagegen.Intent{User: u, Model: q.Model, Prompt: q.Prompt, N: cmp.Or(q.N, 1),
		Size: q.Size, Quality: cmp.Or(q.Quality, imagegen.QualityAuto), Options: options(q.Options), Async: q.Async,
		IdempotencyKey: q.IdempotencyKey},
		Progress: imagegen.Progress{State: imagegen.StateCharging}}
	files := attached{len(q.References), q.Mask != nil}
	m, err := e.offered(q.Model, v)
	if err != nil {
		return r, m, err
	}
	if err := checkFields(r, m.info, files); err != nil {
		return r, m, err
	}
	if q.MaxCredits < 0 {
		return r, m, imagegen.InvalidField("max_credits", "max_credits must be at least 1; got %d", q.MaxCredits)
	}
	err = m.resolve(e.cfg.Policy, &r)
	if err == nil {
		err = m.checkCapabilities(r, files)
	}
	if err != nil {
		return r, m, m.withNearest(e.cfg.Policy, r, files, err)
	}
	return r, m, m.checkProvider(r, files)
}

// attached counts the files that come with a request.
type attached struct {
	references int
	mask       bool
}

// options are those of a request after defaults: what a model may choose anyway is left
// out.
func options(o imagegen.Options) imagegen.Options {
	o = o.Clone()
	if o.Background == imagegen.BackgroundAuto {
		o.Background = ""
	}
	return o
}

// resolve decides what a request means: it fills in ratio, tier and effort.
func (m catalogEntry) resolve(policy Policy, r *imagegen.Record) error {
	c, err := policy(r.Size, r.Quality, m.info)
	if err != nil {
		return imagegen.ToUserError(err)
	}
	r.Ratio, r.Tier = c.Ratio, c.Tier
	if err := checkOffered(*r, m.info); err != nil {
		return err
	}
	r.Effort, err = m.effort(r.Quality, r.Tier, c.QualityChoseTier)
	return err
}

// checkCapabilities compares a request with what the provider declares.
func (m catalogEntry) checkCapabilities(r imagegen.Record, files attached) error {
	return refusedByProvider(m.can.Check(request(r, files)))
}

// checkProvider asks the provider, if it is a Checker. It follows checkCapabilities.
func (m catalogEntry) checkProvider(r imagegen.Record, files attached) error {
	c, ok := m.Provider.(imagegen.Checker)
	if !ok {
		return nil
	}
	return refusedByProvider(c.Check(request(r, files)))
}

// request is what a provider would be asked, with files of which only the number is
// known.
func request(r imagegen.Record, files attached) imagegen.ProviderRequest {
	q := providerRequest(r)
	q.References = make([]imagegen.ProviderReference, files.references)
	if files.mask {
		q.Mask = &imagegen.ProviderReference{}
	}
	return q
}

// offered looks up a model for somebody.
func (e *Engine) offered(id string, v view) (catalogEntry, error) {
	models := e.catalogs.current.Load()
	if m, ok := models.entries[id]; ok && !m.Retired && v.sees(m.Model) {
		return m, nil
	}
	if id == "" {
		return catalogEntry{}, imagegen.InvalidField("model", "model is required; offered: %s", models.names(v))
	}
	return catalogEntry{}, imagegen.InvalidField("model", "unknown model %.40q; offered: %s", id, models.names(v))
}

// names lists the models that somebody sees, in words.
func (c *catalog) names(v view) string {
	var ids []string
	for _, info := range c.listedFor(v) {
		ids = append(ids, info.ID)
	}
	return cmp.Or(strings.Join(ids, ", "), "none at present")
}

// checkFields checks each field on its own, before the policy combines them.
func checkFields(r imagegen.Record, info imagegen.ModelInfo, files attached) error {
	switch {
	case !utf8.ValidString(r.Prompt):
		return imagegen.InvalidField("prompt", "prompt is not valid UTF-8")
	case strings.TrimSpace(r.Prompt) == "":
		return imagegen.InvalidField("prompt", "prompt is required and cannot be blank")
	case utf8.RuneCountInString(r.Prompt) > info.MaxPrompt:
		return imagegen.InvalidField("prompt", "prompt has %d characters; the limit is %d",
			utf8.RuneCountInString(r.Prompt), info.MaxPrompt)
	case r.N < 1 || r.N > info.MaxImages:
		return imagegen.InvalidField("n", "n must be from 1 to %d; got %d", info.MaxImages, r.N)
	case !r.Size.Valid():
		return imagegen.InvalidField("size", "size must be auto or have edges from %d to %d; got %v", imagegen.MinEdge,
			imagegen.MaxEdge, r.Size)
	case !slices.Contains(imagegen.Qualities(), r.Quality):
		return imagegen.InvalidField("quality", "quality must be one of auto, low, medium, high; got %.40q", r.Quality)
	case files.references > 0 && info.MaxReferences == 0:
		return imagegen.InvalidField("image", "model %.40q takes no reference images; send none", r.Model)
	case files.references > info.MaxReferences:
		return imagegen.InvalidField("image", "%d reference images were sent; model %.40q takes at most %d",
			files.references, r.Model, info.MaxReferences)
	case r.IdempotencyKey != "" && !imagegen.ValidIdempotencyKey(r.IdempotencyKey):
		return imagegen.Invalid("an idempotency key is 1 to 255 visible ASCII characters")
	}
	return nil
}

// checkOffered checks that the model offers the tier and the ratio that the policy chose.
func checkOffered(r imagegen.Record, info imagegen.ModelInfo) error {
	switch {
	case !slices.Contains(info.Tiers, r.Tier) && r.Size.Auto():
		return imagegen.InvalidField("quality", "quality %s is of tier %s; model %.40q offers %v", r.Quality, r.Tier,
			info.ID, info.Tiers)
	case !slices.Contains(info.Tiers, r.Tier):
		return imagegen.InvalidField("size", "size %v with quality %s is of tier %s; model %.40q offers %v", r.Size,
			r.Quality, r.Tier, info.ID, info.Tiers)
	case r.Ratio != imagegen.RatioAuto && !slices.Contains(info.Ratios, r.Ratio):
		return imagegen.InvalidField("size", "ratio %s is not offered by model %.40q; it offers %v", r.Ratio, info.ID,
			info.Ratios)
	}
	return nil
}

// refusedByProvider turns a provider's refusal into an error for the caller.
func refusedByProvider(err error) error {
	if err == nil {
		return nil
	}
	p, ok := errors.AsType[*imagegen.ProviderError](err)
	if !ok || p.Message == "" {
		return &imagegen.Error{Code: imagegen.CodeInvalidRequest, Message: "the model cannot honour this request",
			Err: err}
	}
	return &imagegen.Error{Code: imagegen.CodeInvalidRequest, Message: p.Message, Field: p.Field, Err: p.Err}
}

// admit calls Config.Admit. Any other error than an *Error becomes ErrInternal, unless it is
// that of the caller's own context.
func (e *Engine) admit(ctx context.Context, r imagegen.Record, q imagegen.GenerateRequest) error {
	q.References, q.Mask = nil, nil
	asked := e.providerFiles(r, providerRequest(r))
	err := e.cfg.Admit(ctx, Admission{User: r.User, Request: q, Ratio: r.Ratio, Tier: r.Tier,
		Credits: r.Charge().Credits, References: asked.References, Mask: asked.Mask})
	if _, coded := errors.AsType[*imagegen.Error](err); err != nil && !coded && ctx.Err() == nil {
		return imagegen.Internal(err) // a time limit of the hook's own is not the caller's
	}
	return imagegen.ToUserError(err)
}

// providerRequest is what a provider would see of a record, without files.
func providerRequest(r imagegen.Record) imagegen.ProviderRequest {
	return imagegen.ProviderRequest{Key: string(r.ID), Prompt: r.Prompt, N: r.N, Size: r.Size, Ratio: r.Ratio,
		Tier: r.Tier, Quality: r.Effort, Options: r.Options.Clone(), Job: slices.Clone(r.Job)}
}

// providerFiles adds a record's files to q, or their upright copies.
func (e *Engine) providerFiles(r imagegen.Record, q imagegen.ProviderRequest) imagegen.ProviderRequest {
	for _, f := range r.ReferenceImages() {
		q.References = append(q.References, e.providerFile(r.UprightCopy(f)))
	}
	if f, ok := r.Mask(); ok {
		mask := e.providerFile(r.UprightCopy(f))
		q.Mask = &mask
	}
	return q
}

// providerFile is a file of a record as a provider sees it: opening it verifies its bytes.
func (e *Engine) providerFile(f imagegen.ReferenceFile) imagegen.ProviderReference {
	return imagegen.ProviderReference{Reference: uploads.Stored{Spool: e.spool, File: f}, MediaType: f.MediaType,
		Size: f.Size, Width: f.Width, Height: f.Height}
}

// providerRequest is what the provider of m is asked in an attempt.
func (e *Engine) providerRequest(r imagegen.Record, m catalogEntry) imagegen.ProviderRequest {
	q := e.providerFiles(r, providerRequest(r))
	if m.SendUser {
		q.EndUser = endUser(e.cfg.EndUserKey, r.User)
	}
	q.SaveJob = func(ctx context.Context, job []byte) error {
		if !r.Async { // interrupted synchronous work is failed, not resumed: no commit for it
			return nil
		}
		if _, err := e.insistUpdate(ctx, r.Fence(), imagegen.SaveJobChange{Job: job,
			Upstreams: m.upstreams()}); err != nil {
			return fmt.Errorf("imagegen: the upstream job could not be saved: %w", err)
		}
		return nil
	}
	return q
}

// endUser is what stands for a user before upstreams: who has the key alone can tell who it is.
func endUser(key []byte, u imagegen.UserID) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("end user\x00" + u))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}
