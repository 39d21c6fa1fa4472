package browsertest_test

import (
	"fmt"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
)

// The result stands beside the form, or beneath it on a phone, in every width and in light and dark;
// Generate is in view all the while.
func TestLoopInEveryWidth(t *testing.T) {
	s := open(t)
	alice := s.user("alice", imagegen.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 50})
	for i := range 5 {
		s.generate(alice, fmt.Sprintf("A red fox in fresh snow, number %d", i), 1+i%3)
	}
	tab := s.signedIn(alice)
	for _, width := range []int64{360, 768, 1024, 1280, 1920} {
		for _, scheme := range []string{"light", "dark"} {
			l := look{fmt.Sprintf("%d-%s", width, scheme), scheme, width}
			tab.wear(l)
			tab.open("playground", 200)
			tab.pictures()
			tab.fits("playground, " + l.name)
			beside := evaluate[bool](tab, `document.getElementById("result").getBoundingClientRect().left >= document.querySelector(".send").getBoundingClientRect().right`)
			s.is.Equal(beside, width >= 768)
			for _, barrier := range tab.barriers() {
				t.Errorf("playground, %s: %s", l.name, barrier)
			}
			tab.keep(view{name: "loop"}, l)
		}
	}
	tab.open("playground", 200)
	for _, window := range [][2]int64{{1280, 720}, {768, 1024}, {360, 640}} {
		tab.sized(window[0], window[1])
		for _, place := range []string{"0", "innerHeight / 2"} {
			seen := evaluate[bool](tab, `(() => { scrollTo(0, `+place+`);
				const b = document.getElementById("generate").getBoundingClientRect();
				return b.top >= 0 && b.bottom <= innerHeight && b.height > 0; })()`)
			if !seen {
				t.Errorf("Generate is out of view at %v, scrolled to %s", window, place)
			}
		}
	}
}
