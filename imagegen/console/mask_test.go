package console_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"slices"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// postMasked sends the playground's form with references of 20 × 20 pixels and masks.
func (v *visitor) postMasked(references int, masks ...[]byte) answer {
	v.Helper()
	return v.postOver(slices.Repeat([][]byte{picture(20, 20)}, references), masks...)
}

// postOver sends the playground's form with references and masks.
func (v *visitor) postOver(references [][]byte, masks ...[]byte) answer {
	v.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	w.WriteField("prompt", "a fox")
	send := func(name string, content []byte) {
		part, _ := w.CreateFormFile(name, name+".png")
		part.Write(content)
	}
	for _, r := range references {
		send("reference_image", r)
	}
	for _, m := range masks {
		send("mask", m)
	}
	w.Close() // all of it into memory
	return v.do(http.MethodPost, "playground", &b, "Content-Type", w.FormDataContentType(), "Sec-Fetch-Site",
		"same-origin")
}

// A mask is sent with the form. A wrong one is a fault of its field, and nothing is charged.
func TestMask(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	s.Grant(t, v.user.ID, 10)
	s.is.True(v.get("playground").has(`<input type="file" id="f-mask" name="mask"`))
	fine := imagegentest.Transparent(20, 20)
	for want, a := range map[string]answer{
		"Mask is 8 x 8 and must be as large":  v.postMasked(1, imagegentest.Transparent(8, 8)),
		"Mask must be a PNG with an alpha":    v.postMasked(1, picture(20, 20)),
		"Mask needs the reference image":      v.postMasked(0, fine),
		"More than one mask was chosen":       v.postMasked(1, fine, fine),
		"The mask is not a PNG, JPEG or WebP": v.postMasked(1, []byte("a fox")),
	} {
		s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
		if !a.has(`id="f-mask-fault">` + want) {
			t.Errorf("%q is not in\n%s", want, a.body)
		}
	}
	s.is.True(v.postMasked(1, fine).redirected() != "")
	p, err := s.As(v.user.ID).Generations(t.Context(), imagegen.Query{})
	s.is.NoErr(err)
	s.is.Equal(len(p.Generations), 1)
	s.is.True(p.Generations[0].Masked)
}

// The mask of a photograph has the size in which the console shows it.
func TestMaskOfATurnedReference(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	s.Grant(t, v.user.ID, 100)
	for _, f := range imagegen.Formats() {
		for _, o := range imagegentest.Orientations() {
			photo := [][]byte{imagegentest.Turned(f, o, 20, 30)}
			s.is.True(v.postOver(photo, imagegentest.Transparent(20, 30)).redirected() != "")
			s.is.True(v.postOver(photo, imagegentest.Transparent(30, 20)).
				has("Mask is 30 x 20 and must be as large as the first reference image, which is 20 x 30"))
		}
	}
}
