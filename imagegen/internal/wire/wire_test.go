package wire_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

const base = "https://images.example.com/prefix"

var created = time.Date(2026, 1, 2, 3, 4, 5, 60e6, time.UTC)

// through encodes and decodes.
func through[T any](t *testing.T, v T) (back T) {
	t.Helper()
	is := is.New(t)
	b, err := json.Marshal(v)
	is.NoErr(err)
	is.NoErr(json.Unmarshal(b, &back))
	return back
}

func TestResultRoundTrip(t *testing.T) {
	is := is.New(t)
	want := imagegen.Result{
		Generation: imagegen.Generation{
			ID: "gen_1", Status: imagegen.StatusSucceeded, Model: "m", Prompt: "a <fox> & \u2028", N: 2,
			Size: imagegen.Size{Width: 64, Height: 48}, Quality: imagegen.QualityHigh, ReferenceCount: 3, Ratio: "4:3",
			Tier: imagegen.Tier2K, CreatedAt: created, CompletedAt: created.Add(time.Second), Masked: true,
			Options: imagegen.Options{Format: imagegen.FormatJPEG, Compression: new(0),
				Background: imagegen.BackgroundOpaque, Seed: new(int64(0))},
			Images: []imagegen.Image{{ID: "image_1", URL: base + "/images/image_1", CreatedAt: created, Width: 64,
				Height: 48, MediaType: "image/webp"}},
			Credits: 2, CreditsRequested: 4,
		},
		Balance: &imagegen.Balance{Credits: imagegen.MaxCredits, AccountType: "PRO",
			NextExpiration: &imagegen.Expiration{Credits: 7, At: created}},
	}
	got, err := through(t, wire.NewResult(want, base)).Result()
	is.NoErr(err)
	is.Equal(cmp.Diff(want, got), "")
}

func TestListRoundTrip(t *testing.T) {
	is := is.New(t)
	want := imagegen.Page{Next: "gen_1", Generations: []imagegen.Generation{
		{ID: "gen_2", Status: imagegen.StatusQueued, CreatedAt: created},
		{ID: "gen_1", Status: imagegen.StatusFailed, CreatedAt: created, CompletedAt: created,
			Failure: &imagegen.Error{Code: imagegen.CodeGenerationFailed, Message: "no", Generation: "gen_1"}},
	}}
	sent := wire.List{HasMore: true, NextCursor: &want.Next}
	for _, g := range want.Generations {
		sent.Data = append(sent.Data, wire.NewGeneration(g, base))
	}
	got, err := through(t, sent).Value()
	is.NoErr(err)
	is.Equal(cmp.Diff(want, got), "")

	_, err = wire.List{Data: []wire.Generation{{Size: "huge"}}}.Value()
	is.True(err != nil)
}

func TestModelsRoundTrip(t *testing.T) {
	is := is.New(t)
	want := []imagegen.ModelInfo{{ID: "m", Provider: "p", Credits: map[imagegen.Tier]imagegen.Credits{"2K": 3},
		Tiers: []imagegen.Tier{"2K"}, Ratios: []imagegen.Ratio{"1:1"}, MaxReferences: 1, MaxImages: 2, MaxPrompt: 3,
		MaxReferenceBytes: 4, Formats: []imagegen.Format{"png"}, Backgrounds: []imagegen.Background{"auto"}, Mask: true,
		MaxSeed: 5}}
	is.Equal(cmp.Diff(want, through(t, wire.NewModels(want)).Value()), "")
}

func TestTime(t *testing.T) {
	is := is.New(t)
	for want, at := range map[string]time.Time{
		`null`:                       {},
		`"2026-01-02T03:04:05.060Z"`: created,
		`"2026-01-02T03:04:05.000Z"`: created.Truncate(time.Second),
		`"2026-01-02T03:04:05.999Z"`: time.Date(2026, 1, 2, 4, 4, 5, 999_999_999, time.FixedZone("", 3600)),
	} {
		b, err := json.Marshal(wire.Time(at))
		is.NoErr(err)
		is.Equal(string(b), want)
		var back wire.Time
		is.NoErr(json.Unmarshal(b, &back))
		is.True(time.Time(back).Equal(at.Truncate(time.Millisecond)))
	}
	var bad wire.Time
	is.True(json.Unmarshal([]byte(`"yesterday"`), &bad) != nil)
}

func TestGenerationAt(t *testing.T) {
	is := is.New(t)
	is.Equal(wire.GenerationAt(base+wire.GenerationPath("gen_1")), imagegen.GenerationID("gen_1"))
	is.Equal(wire.GenerationAt("https://elsewhere.example/"), imagegen.GenerationID(""))
}
