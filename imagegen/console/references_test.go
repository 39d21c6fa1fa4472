package console_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
)

// chosen are the person's own images in the form, in order.
func (a answer) chosen() (all []string) {
	for _, m := range regexp.MustCompile(`<input type="hidden" name="reference" value="([^"]*)">`).
		FindAllStringSubmatch(a.body, -1) {
		all = append(all, m[1])
	}
	return all
}

// finishMany has images made and returns their identifiers.
func (v *visitor) finishMany(n int) (ids []string) {
	v.Helper()
	for _, i := range v.finish("a fox", n, imagegen.StatusSucceeded).Images {
		ids = append(ids, string(i.ID))
	}
	return ids
}

// An image can be a reference by its identifier, from any page, but not one of another user.
func TestUseAsReference(t *testing.T) {
	s := open(t)
	alice, bob := s.signedIn("alice"), s.signedIn("bob")
	alice.grant(10)
	bob.grant(10)
	g := alice.finish("a fox", 1, imagegen.StatusSucceeded)
	id := string(g.Images[0].ID)
	link := "/console/playground?reference=" + id
	s.is.True(alice.get("generations/" + string(g.ID)).has(link))
	s.is.True(strings.Contains(alice.get("generations").tile(g.ID), link))
	s.is.True(alice.get("compare?a=" + id).has(link))
	s.is.True(alice.get("playground").has(`form="play" name="use" value="` + id + `"`))
	s.is.Equal(alice.get(link).chosen(), []string{id})
	s.is.Equal(bob.get(link).StatusCode, http.StatusNotFound)
	s.is.Equal(alice.get("playground?reference=nonsense").StatusCode, http.StatusNotFound)

	s.is.Equal(alice.post("playground", small("prompt", "in autumn", "reference", id)...).StatusCode,
		http.StatusSeeOther)
	made := alice.reaches(alice.made()[0].ID, imagegen.StatusSucceeded)
	s.is.Equal(made.ReferenceCount, 1)
	foreign := bob.post("playground", small("reference", id)...)
	s.is.Equal(foreign.StatusCode, http.StatusUnprocessableEntity)
	s.is.Equal(foreign.fault("reference_image"),
		"One of the images is not there any more. Remove it, or choose another.")
	s.is.Equal(len(bob.made()), 0)
}

// Without scripts a button adds an image, moves it forward and removes it, and what was typed stays.
func TestArrangeReferences(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	ids := v.finishMany(3)
	for _, c := range []struct {
		name, value string
		want        []string
	}{
		{"use", ids[2], ids},
		{"use", ids[0], ids[:2]}, // it is there
		{"show", "forward:1", []string{ids[1], ids[0]}},
		{"show", "forward:0", ids[:2]},
		{"show", "remove:0", ids[1:2]},
		{"show", "remove:7", ids[:2]},
		{"show", "remove:-1", ids[:2]},
	} {
		a := v.post("playground", small("prompt", "in autumn", "reference", ids[0], "reference", ids[1], c.name,
			c.value)...)
		s.is.Equal(a.StatusCode, http.StatusOK)
		s.is.Equal(cmp.Diff(c.want, a.chosen()), "")
		s.is.Equal(a.entered()["prompt"], "in autumn")
	}
	s.is.Equal(len(v.made()), 1)
}

// Images and files are references in the order of the form. "Use again" and a variation reuse the images, and say which
// files are gone.
func TestReferencesOnceMore(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(20)
	ids := v.finishMany(2)
	v.post("playground", small("reference", ids[1], "reference", ids[0], "seed", "7")...)
	first := v.reaches(v.made()[0].ID, imagegen.StatusSucceeded)
	again := v.get("playground?again=" + string(first.ID))
	s.is.Equal(again.chosen(), []string{ids[1], ids[0]})
	s.is.True(!again.has("not kept"))

	s.is.Equal(v.post("playground", "again", string(first.ID), "token", "v").StatusCode, http.StatusSeeOther)
	other := v.reaches(v.made()[0].ID, imagegen.StatusSucceeded)
	s.is.True(other.ID != first.ID && other.Options.Seed == nil && *first.Options.Seed == 7)
	s.is.Equal([]any{other.Prompt, other.Size, other.ReferenceCount}, []any{first.Prompt, first.Size, 2})
	v.post("playground", "again", string(first.ID), "token", "v") // sent twice, made once
	s.is.Equal(v.made()[0].ID, other.ID)
	s.is.Equal(s.signedIn("bob").post("playground", "again", string(first.ID)).StatusCode, http.StatusNotFound)

	v.postFiles("playground", []file{{"a.png", picture(20, 20)}}, small("reference", ids[0])...)
	mixed := v.reaches(v.made()[0].ID, imagegen.StatusSucceeded)
	s.is.Equal(mixed.ReferenceCount, 2)
	// its file is removed after its outcome is written
	gone := v.showsSoon("playground?again="+string(mixed.ID), func(a answer) bool {
		return a.has("It was made with 1 image that is not kept: choose it once more.")
	})
	s.is.Equal(gone.chosen(), ids[:1])
	refused := v.post("playground", "again", string(mixed.ID))
	s.is.Equal(refused.StatusCode, http.StatusUnprocessableEntity)
	s.is.Equal(refused.fault("reference_image"),
		"It was made with 1 image that is not kept. Choose it once more, or others.")
	s.is.Equal(refused.chosen(), ids[:1])

	source, _ := imagegen.ImageID(ids[0]).Generation()
	s.is.NoErr(s.Engine.Erase(t.Context(), source))
	s.is.True(v.get("playground?again=" + string(first.ID)).has("It was made with 2 images that are not kept"))
}

// Until its generation has ended, an uploaded file can be a reference of another generation, by "use again", a
// variation or its address. Only its owner can see it.
func TestSentImageOnceMore(t *testing.T) {
	g := newGate()
	s := openOver(t, g.oneByOne)
	alice, bob := s.signedIn("alice"), s.signedIn("bob")
	alice.grant(10)
	sent := picture(20, 20)
	alice.postFiles("playground", []file{{"a.png", sent}}, small()...)
	first := alice.reaches(alice.made()[0].ID, imagegen.StatusProcessing)
	name := string(first.ID) + ".0"
	again := alice.get("playground?again=" + string(first.ID))
	s.is.Equal(again.chosen(), []string{name})
	s.is.True(!again.has("not kept"))
	s.is.Equal(alice.get("playground?reference="+name).chosen(), []string{name})
	shown := alice.get("thumbnails/" + name)
	s.is.Equal([]string{shown.body, shown.Header.Get("Content-Type"), shown.Header.Get("Cache-Control")},
		[]string{string(sent), "image/png", "no-store"})
	for _, other := range []string{string(first.ID) + ".1", string(first.ID) + ".-1", string(first.ID) + ".x",
		"gen_1.0", "x.0"} {
		s.is.Equal(alice.get("images/"+other).StatusCode, http.StatusNotFound)
		s.is.Equal(alice.get("playground?reference="+other).StatusCode, http.StatusNotFound)
	}
	s.is.Equal(bob.get("images/"+name).StatusCode, http.StatusNotFound)
	s.is.Equal(bob.get("playground?reference="+name).StatusCode, http.StatusNotFound)

	s.is.Equal(alice.post("playground", "again", string(first.ID), "token", "v").StatusCode, http.StatusSeeOther)
	second := alice.made()[0]
	s.is.True(second.ID != first.ID)
	s.is.Equal(second.ReferenceCount, 1)
	close(g.opened)
	alice.reaches(first.ID, imagegen.StatusSucceeded)
	alice.reaches(second.ID, imagegen.StatusSucceeded)
	// removed after the outcome is written
	alice.showsSoon("images/"+name, func(a answer) bool { return a.StatusCode == http.StatusNotFound })
	alice.showsSoon("playground?again="+string(second.ID), func(a answer) bool {
		return a.has("It was made with 1 image that is not kept")
	})
	s.is.Equal(alice.post("playground", small("reference", name)...).fault("reference_image"),
		"One of the images is not there any more. Remove it, or choose another.")
}

// More images than the model takes are a fault of the form.
func TestTooManyOwnReferences(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	pairs := small()
	for i := range 17 {
		pairs = append(pairs, "reference", fmt.Sprintf("img_%d", i))
	}
	s.is.Equal(v.post("playground", pairs...).fault("reference_image"),
		"17 images were chosen; fake-1 takes 16 at most.")
}
