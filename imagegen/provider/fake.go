package provider

import (
	"bytes"
	"context"
	"io"
	"iter"
	"math"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/fakeimage"
)

// Fake is a provider without an upstream. It draws a landscape for each prompt, in every ratio
// and tier, and explicit sizes to the pixel. Images are PNG unless the request asks for WebP.
// The same request yields the same bytes. If the first reference image has at most 4 million
// pixels, its average colour tints the picture. The quality changes nothing.
//
// It supports every option. A seed changes the picture: the second image of a request equals the first image of the
// next seed. With a transparent background the picture is an oval, and transparent around it. With a mask it is the
// first reference, and drawn anew where the mask is fully transparent. WebP is lossless and uncompressed: three bytes
// a pixel, four with a transparent background.
//
// A prompt can make it fail: with [fake:fail], [fake:refuse], [fake:hang], [fake:panic],
// [fake:corrupt], [fake:crash], [fake:transient=N], [fake:images=M] with M from 1 to 16,
// [fake:tokens=T] with T up to 1000000, and [fake:delay=D] and [fake:each=D] with a duration such
// as 3s. Each of these directives sets the field of [Faults] with the same name.
//
// Check refuses any other text that begins with "[fake:", a directive that occurs twice,
// and two directives that end the call. Only transient can be combined with one of those:
// the first call after the transient failures then ends as that directive says.
//
// The zero value is ready for use, and Fake is safe for concurrent use. Do not change its
// fields once it is in use.
type Fake struct {
	// Script decides the faults of a call in place of the directives in its prompt, which are then
	// ordinary text. It must be safe for concurrent use. nil: the directives decide.
	Script func(r imagegen.ProviderRequest) Faults

	// Image is yielded as every image, whatever the request asks for; references are not read. It is for measuring
	// the code around the provider. nil: pictures are drawn.
	Image []byte

	// Crash is called for Faults.Crash: it kills this process and does not return. nil: such a call is refused.
	Crash func()

	failures failures
}

var (
	_ imagegen.Provider = (*Fake)(nil)
	_ imagegen.Checker  = (*Fake)(nil)
)

// Name returns "fake".
func (f *Fake) Name() string { return "fake" }

// Capabilities returns all sizes and all options. JPEG and its compression are left to the
// engine. Seeds go up to 4,294,967,295.
func (f *Fake) Capabilities() imagegen.Capabilities {
	return imagegen.Capabilities{MaxReferences: imagegen.MaxReferences, Verify: imagegen.VerifyStructure,
		Formats: []imagegen.Format{imagegen.FormatPNG, imagegen.FormatWebP}, Transparent: true, Mask: true,
		MaxSeed: math.MaxUint32}
}

// Check refuses a prompt whose directives are wrong or not permitted, with an error of
// imagegen.ClassInvalid. With a Script it refuses nothing.
func (f *Fake) Check(r imagegen.ProviderRequest) error {
	if f.Script != nil {
		return nil
	}
	_, _, err := f.faults(r)
	return err
}

// Generate draws the images, each while it is read, with the faults that the prompt's
// directives or Script ask for. A reference that cannot be opened is an error of
// imagegen.ClassUnavailable, one that cannot be decoded is of ClassInvalid.
func (f *Fake) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		err := f.generate(ctx, r, func(body io.Reader) bool { return yield(imagegen.ProviderImage{Body: body}, nil) })
		if err != nil {
			yield(imagegen.ProviderImage{}, err)
		}
	}
}

// generate returns nil if yield wants no more. A delay comes before references are read, and the ending is counted
// before the first image, so that a call that is cancelled between images counts as one of the transient failures.
func (f *Fake) generate(ctx context.Context, r imagegen.ProviderRequest, yield func(io.Reader) bool) error {
	faults, prompt, err := f.faults(r)
	if err != nil {
		return err
	}
	if err := wait(ctx, faults.Delay); err != nil {
		return err
	}
	draw, err := f.painter(ctx, r, prompt)
	if err != nil {
		return err
	}
	if faults.Tokens > 0 && r.Used != nil {
		r.Used(imagegen.UpstreamUsage{ImageOutput: int64(faults.Tokens)})
	}
	end := f.ending(r.Key, faults)
	for i := range faults.count(r.N, end != nil) {
		if i > 0 && faults.Each > 0 {
			if err := wait(ctx, faults.Each); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !yield(faults.spoil(draw(i))) {
			return nil
		}
	}
	if end == nil {
		return nil
	}
	return end(ctx)
}

// faults returns the faults of a call, and the prompt to draw.
func (f *Fake) faults(r imagegen.ProviderRequest) (faults Faults, prompt string, err error) {
	if f.Script != nil {
		faults, prompt = f.Script(r), r.Prompt
	} else if faults, prompt, err = parseDirectives(r.Prompt); err != nil {
		return Faults{}, "", err
	}
	if faults.Crash && f.Crash == nil {
		err = invalid("[fake:crash] is not permitted here because it kills the service; leave it out")
	}
	return faults, prompt, err
}

// wait returns early, with an error, when ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// painter returns a function that makes the bytes of each image. The function is not safe for concurrent use: all
// images share one Picture, of which only the variant changes.
func (f *Fake) painter(ctx context.Context, r imagegen.ProviderRequest,
	prompt string) (func(variant int) io.Reader, error) {
	if f.Image != nil {
		return func(int) io.Reader { return bytes.NewReader(f.Image) }, nil
	}
	tint, err := tintOf(ctx, r.References)
	if err != nil {
		return nil, err
	}
	size, _ := f.Capabilities().Choose(r) // cannot fail: every size is possible
	picture := fakeimage.Picture{Prompt: prompt, Width: size.Width, Height: size.Height, Tint: tint,
		Seed: r.Options.Seed, Oval: r.Options.Background == imagegen.BackgroundTransparent}
	if r.Mask != nil {
		picture.Kept, err = kept(ctx, r.References[0], *r.Mask, size)
	}
	return func(variant int) io.Reader {
		picture.Variant = variant
		if r.Options.Format == imagegen.FormatWebP {
			return picture.WebP()
		}
		return picture.PNG()
	}, err
}
