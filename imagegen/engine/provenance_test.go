package engine_test

import (
	"bytes"
	"fmt"
	"image"
	"io"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

const trained = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"

// file reads an image of a generation.
func (h *harness) file(i imagegen.Image) []byte {
	h.Helper()
	f, err := h.engine.OpenImage(h.Context(), i.ID)
	h.is.NoErr(err)
	defer f.Close()
	b, err := io.ReadAll(f)
	h.is.NoErr(err)
	return b
}

// An image says what became of its maker's statement of its origin: it is there, the service's own has taken its place,
// or there was none that the service knows.
func TestProvenance(t *testing.T) {
	plain := pngOf(64, 64)
	workflow := imagegentest.PNGChunk(plain, "tEXt", "workflow\x00a secret")
	manifest := imagegentest.PNGChunk(plain, "caBX", "a manifest")
	xmp := imagegentest.PNGChunk(plain, "iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00<Iptc4xmpExt:DigitalSourceType>"+
		trained)
	size := imagegen.Size{Width: 64, Height: 64}
	for name, c := range map[string]struct {
		made     []byte
		asks     imagegen.GenerateRequest
		provider imagegen.Metadata
		model    imagegen.Metadata
		want     imagegen.Provenance
	}{
		"as it came":      {made: plain, want: imagegen.ProvenanceNone},
		"with texts":      {made: workflow, want: imagegen.ProvenanceNone},
		"with a manifest": {made: manifest, want: imagegen.ProvenanceKept},
		"with XMP":        {made: xmp, want: imagegen.ProvenanceKept},
		"transcoded": {made: manifest,
			asks: imagegen.GenerateRequest{Options: imagegen.Options{Format: imagegen.FormatJPEG}},
			want: imagegen.ProvenanceRewritten},
		"scaled": {made: manifest,
			asks: imagegen.GenerateRequest{Size: imagegen.Size{Width: 32, Height: 32}},
			want: imagegen.ProvenanceRewritten},
		"cropped": {made: manifest,
			asks: imagegen.GenerateRequest{Size: imagegen.Size{Width: 64, Height: 63}},
			want: imagegen.ProvenanceRewritten},
		"stripped for the provider": {made: workflow, provider: imagegen.MetadataStrip,
			want: imagegen.ProvenanceRewritten},
		"stripped for the model": {made: manifest, model: imagegen.MetadataStrip,
			want: imagegen.ProvenanceRewritten},
		"kept for the model": {made: manifest, provider: imagegen.MetadataStrip,
			model: imagegen.MetadataKeep, want: imagegen.ProvenanceKept},
		"stripped and transcoded": {made: workflow, provider: imagegen.MetadataStrip,
			asks: imagegen.GenerateRequest{Options: imagegen.Options{Format: imagegen.FormatJPEG}},
			want: imagegen.ProvenanceRewritten},
		"opaque, which only pixels tell": {made: manifest,
			asks: imagegen.GenerateRequest{Options: imagegen.Options{Background: imagegen.BackgroundOpaque}},
			want: imagegen.ProvenanceKept},
		"opaque and stripped, like above": {made: workflow, provider: imagegen.MetadataStrip,
			asks: imagegen.GenerateRequest{Options: imagegen.Options{Background: imagegen.BackgroundOpaque}},
			want: imagegen.ProvenanceRewritten},
	} {
		for _, verify := range imagegen.Verifications() {
			t.Run(fmt.Sprintf("%s %s", name, verify), func(t *testing.T) {
				is := is.New(t)
				p := yieldBytes(c.made).verified(verify)
				p.caps.Metadata = c.provider
				h := start(t, p, func(cfg *engine.Config) { cfg.Models[0].Metadata = c.model })
				if c.asks.Size.Auto() {
					c.asks.Size = size
				}
				got, err := h.generate(c.asks)
				is.NoErr(err)
				is.Equal(got.Images[0].Provenance, c.want)
				stored := h.file(got.Images[0])
				if c.want == imagegen.ProvenanceRewritten {
					is.True(bytes.Contains(stored, []byte(trained)))
					is.True(!bytes.Contains(stored, []byte("a secret")))
					is.True(!bytes.Contains(stored, []byte("a manifest")))
				} else {
					is.True(bytes.Equal(stored, c.made))
				}
				h.audit()
			})
		}
	}
}

// An image of an upstream counts by the size in which it is displayed. It stays as it came if it can, and is upright
// once it is rewritten; so is its thumbnail.
func TestTurnedImagesOfAnUpstream(t *testing.T) {
	for _, f := range imagegen.Formats() {
		for _, o := range imagegentest.Orientations() {
			for name, c := range map[string]struct {
				asks imagegen.Options
				size imagegen.Size
				strip,
				same bool
			}{
				"as it came": {size: imagegen.Size{Width: 48, Height: 64}, same: true},
				"transcoded": {size: imagegen.Size{Width: 48, Height: 64},
					asks: imagegen.Options{Format: map[bool]imagegen.Format{true: "png", false: "jpeg"}[f == "jpeg"]}},
				"scaled":   {size: imagegen.Size{Width: 24, Height: 32}},
				"stripped": {size: imagegen.Size{Width: 48, Height: 64}, strip: true},
			} {
				t.Run(fmt.Sprintf("%s %d %s", f, o, name), func(t *testing.T) {
					t.Parallel()
					is := is.New(t)
					file := imagegentest.Turned(f, o, 48, 64)
					h := start(t, yieldBytes(file).verified(imagegen.VerifyStructure), func(cfg *engine.Config) {
						cfg.Thumbnails = true
						if c.strip {
							cfg.Models[0].Metadata = imagegen.MetadataStrip
						}
					})
					got, err := h.generate(imagegen.GenerateRequest{Size: c.size, Options: c.asks})
					is.NoErr(err)
					is.Equal(imagegen.Size{Width: got.Images[0].Width, Height: got.Images[0].Height}, c.size)
					stored := h.file(got.Images[0])
					is.Equal(bytes.Equal(stored, file), c.same)
					if !c.same {
						m, _, err := image.Decode(bytes.NewReader(stored))
						is.NoErr(err)
						is.Equal(m.Bounds().Size(), image.Pt(c.size.Width, c.size.Height))
						is.NoErr(imagegentest.Upright(m))
						is.True(!bytes.Contains(stored, []byte("MM\x00\x2a")))
					}
					small, err := h.engine.As(alice).OpenThumbnail(t.Context(), got.Images[0].ID)
					is.NoErr(err)
					m, _, err := image.Decode(small)
					is.NoErr(err)
					is.NoErr(imagegentest.Upright(m))
				})
			}
		}
	}
}
