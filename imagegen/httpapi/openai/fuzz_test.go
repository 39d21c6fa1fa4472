package openai_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// Whatever is sent as an edit, in either encoding: it is made, or refused as 400 in the form of an error without a
// charge, and no upload is left.
func FuzzEdits(f *testing.F) {
	var spool imagegentest.CountedSpool
	e := imagegentest.Start(f, spool.Watch)
	h, key := openai.NewHandler(e.Authenticate, openai.Options{}), e.Key(f, imagegentest.Alice)
	uri := dataURI(picture(30, 30))
	one := part{"image", "a.png", picture(30, 30)}
	formType, form := formOf(part{"prompt", "", "a fox"}, part{"size", "", "64x48"}, one,
		part{"mask", "m.png", transparent(30, 30)})
	for _, seed := range [][2]string{
		{"application/json", edit(link(uri))}, {"application/json", edit(link(uri), `{}`)},
		{"application/json", edit(link("http://x/"))}, {"application/json", edit(link(uri))[:150]},
		{"application/json", `{"images":[[[[`}, {"application/json", edit(link(`data:;base64,\u0041`))},
		{"application/json", `{"mask":` + link(uri) + `,"prompt":"a fox","images":[` + link(uri) + `]}`},
		{formType, form}, {formType, form[:len(form)/2]}, {formType, strings.ReplaceAll(form, "mask", "image[]")},
		{"multipart/form-data", form},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, contentType, body string) {
		body = strings.ReplaceAll(body, "[fake:", "[") // those fail on purpose
		before, err := e.As(imagegentest.Alice).Balance(t.Context())
		if err != nil || before.Credits < 20 {
			e.Grant(t, imagegentest.Alice, 100)
			before, _ = e.As(imagegentest.Alice).Balance(t.Context())
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, edits, strings.NewReader(body))
		r.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {contentType}}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		after, err := e.As(imagegentest.Alice).Balance(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var refusal failed
		switch {
		case w.Code == http.StatusOK && after.Credits < before.Credits:
		case w.Code == http.StatusBadRequest && after.Credits == before.Credits && json.Unmarshal(w.Body.Bytes(),
			&refusal) == nil && refusal.Error.Message != "":
			// of a request that was served before
			for began := time.Now(); spool.Held() != 0 && time.Since(began) < 20*time.Second; {
				time.Sleep(time.Millisecond)
			}
			if spool.Held() != 0 {
				t.Errorf("%d uploads are left of a refused request", spool.Held())
			}
		default:
			t.Errorf("%d %.200s, and %d credits of %d are left", w.Code, w.Body, after.Credits, before.Credits)
		}
	})
}
