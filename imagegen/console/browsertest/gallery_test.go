package browsertest_test

import (
	"fmt"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// The gallery shows each of many generations once.
func TestGallery(t *testing.T) {
	const many = 64
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: many})
	want, made := map[string]int{}, []imagegen.Generation{}
	for i := range many {
		prompt := fmt.Sprintf("picture %02d", i)
		if i == 7 {
			prompt = mirror
		}
		want[prompt] = 1
		made = append(made, s.begin(alice, prompt, 1))
	}
	for _, g := range made {
		s.await(g.ID)
	}

	tab := s.signedIn(alice)
	tab.open("generations", 200)
	got, perPage := map[string]int{}, []int{}
	for {
		prompts := evaluate[[]string](tab, `[...document.querySelectorAll(".tile .prompt")].map((e) => e.textContent)`)
		for _, p := range prompts {
			got[p]++
		}
		perPage = append(perPage, len(prompts))
		tab.pictures()
		if !evaluate[bool](tab, `!!document.querySelector("[rel=next]")`) {
			break
		}
		tab.press("Older", 200)
	}
	s.is.Equal(got, want)
	s.is.Equal(perPage, []int{24, 24, 16})
	tab.press("Newest", 200)
	tab.press("Failed", 200)
	s.is.Equal(evaluate[int](tab, `document.querySelectorAll(".tile").length`), 1)
	tab.shows(mirror)
}

// The tile of a generation under way changes by itself.
func TestGalleryLive(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 1})
	tab := s.signedIn(alice)
	s.begin(alice, slow, 1)
	tab.open("generations", 200)
	tab.shows("processing")
	s.is.Equal(tab.pictures(), 0)
	close(s.painter.let)
	tab.gone("processing")
	s.is.Equal(tab.pictures(), 1)
}
