package browsertest_test

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// The buttons of an image stand in one row within its frame in every window, and each says what it does: by its words,
// or as its title where there is room for a drawing only.
func TestButtonsOfAnImage(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	g := s.generate(alice, "A red fox in fresh snow", 4)
	tab := s.signedIn(alice)
	for _, page := range []string{"playground?result=" + string(g.ID), "generations/" + string(g.ID)} {
		tab.open(page, 200)
		for _, l := range append(everywhere(), look{"1280 with a scrollbar", "light", 1265}) {
			tab.wear(l)
			unfit := evaluate[[]string](tab, `[...document.querySelectorAll("figcaption .actions > *")].filter((e) => {
				const r = e.getBoundingClientRect(), all = e.closest("figcaption").getBoundingClientRect();
				return e.title === "" || r.right > all.right - 8 || r.top !== e.parentElement.firstElementChild.getBoundingClientRect().top;
			}).map((e) => e.innerText)`)
			if len(unfit) > 0 {
				t.Errorf("%s, %s: %q", page, l.name, unfit)
			}
			if l.width >= 1265 && !evaluate[bool](tab, `[...document.querySelectorAll("figcaption .use .word")].every(
				(e) => e.innerText === "Use as reference" && e.getBoundingClientRect().width > 50)`) {
				t.Errorf("%s, %s: no words on the button that makes an image a reference", page, l.name)
			}
		}
	}
}
