package conformance_test

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http"
	"testing"
)

var optionChecks = []check{
	{
		name: "options that a model declares",
		lines: []string{
			"contract: | `output_format` `png` `jpeg` `webp`, `output_compression` 0–100",
			"contract: | an image of another format, or without an alpha channel",
			"contract: | `mask` | PNG with an alpha channel",
			"contract: Draws a real, pleasant, deterministic PNG",
		},
		run: checkOptions,
		elsewhere: []string{"imagegen/httpapi.TestOptions", "imagegen/httpapi.TestOptionRefusals", "imagegen/httpapi.TestMaskBesideAllReferences",
			"imagegen/engine.TestOptionsThatAModelDoesNotDeclare", "imagegen/engine.TestOptionsAreDelivered"},
	},
}

func checkOptions(t *testing.T, s *service) {
	a := s.account(t, 20)
	asked := object{"output_format": "jpeg", "output_compression": 50, "background": "opaque", "seed": 7}
	g := a.generated(t, asked)
	same(t, a.generation(t, g["id"]), with(without(g, "balance"), asked))
	for format, mediaType := range map[string]string{"png": "image/png", "jpeg": "image/jpeg", "webp": "image/webp"} {
		g := a.generated(t, object{"output_format": format})
		same(t, g["images"].([]any)[0].(object)["content_type"], mediaType)
		s.call(t, request{address: images(g)[0]}).is(t, http.StatusOK).has(t, "Content-Type", mediaType)
	}
	corner := func(g object) uint32 {
		picture, err := png.Decode(bytes.NewReader(s.call(t, request{address: images(g)[0]}).is(t, http.StatusOK).body))
		if err != nil {
			t.Fatal(err)
		}
		_, _, _, alpha := picture.At(0, 0).RGBA()
		return alpha
	}
	same(t, corner(a.generated(t, object{"background": "transparent"})), uint32(0))
	same(t, corner(a.generated(t, object{"background": "opaque"})), uint32(0xffff))

	hole := image.NewNRGBA(image.Rect(0, 0, 8, 6))
	draw.Draw(hole, image.Rect(0, 0, 4, 6), image.NewUniform(color.Black), image.Point{}, draw.Src)
	var stencil bytes.Buffer
	if err := png.Encode(&stencil, hole); err != nil {
		t.Fatal(err)
	}
	mask := part{name: "mask", file: "mask.png", value: stencil.String()}
	masked := a.form(t, reference("fox.png", picture(8, 6)), mask).is(t, http.StatusOK).object(t)
	same(t, []any{masked["reference_count"], masked["mask"]}, []any{1, true})

	before := a.credits(t)
	for field, body := range map[string]object{
		"output_format": {"output_format": "gif"}, "output_compression": {"output_compression": 1}, "seed": {"seed": 1 << 32},
		"background": {"background": "transparent", "output_format": "jpeg"}, "mask": {"mask": "mask.png"},
	} {
		a.post(t, fox(body)).refused(t, http.StatusBadRequest, "invalid_request", field)
	}
	a.form(t, mask).refused(t, http.StatusBadRequest, "invalid_request", "mask needs the reference image")
	same(t, a.credits(t), before)
}
