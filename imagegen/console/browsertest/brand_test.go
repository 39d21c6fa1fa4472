package browsertest_test

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
)

// wordmark is a logo that is wider than high, and tries to run a script when it is opened by itself.
const wordmark = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 24"><rect width="60" height="24" rx="6" fill="#d9480f"/>` +
	`<path d="M8 18 16 6l8 12M30 18V6l14 12V6" fill="none" stroke="#fff" stroke-width="3"/></svg>`

// A console with a name, a logo and a colour of its own is accessible. An unreadable colour is adjusted.
func TestBrand(t *testing.T) {
	for name, accent := range map[string]string{"green": "0a7d5a", "yellow": "ffdd00", "navy": "000040"} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			s.brand = console.Brand{Name: "Atelier für Fotografie im Norden", Logo: []byte(wordmark), Accent: accent}
			s.serve()
			alice := s.user("alice", account.RoleUser)
			s.grant(alice, imagegen.Grant{Credits: 10})
			s.generate(alice, "A lighthouse", 1)
			visitor, user, operator := s.tab(), s.signedIn(alice), s.signedIn(s.user("olivia", account.RoleOperator))
			visitor.inspect(view{"brand-" + name + "-signin", "signin", 200, nil})
			for _, page := range []string{"playground", "credits"} {
				user.inspect(view{"brand-" + name + "-" + page, page, 200, nil})
			}
			operator.inspect(view{"brand-" + name + "-user", "users/" + string(alice.ID), 200, nil})
			s.is.Equal(evaluate[string](operator,
				`document.querySelector(".brand img").naturalWidth > 0 && document.title`),
				"alice · Atelier für Fotografie im Norden")
			operator.open(s.address+evaluate[string](operator,
				`new URL(document.querySelector(".brand img").src).pathname`), 200)
		})
	}
}
