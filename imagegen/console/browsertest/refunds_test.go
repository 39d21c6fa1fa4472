package browsertest_test

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// Missing images are refunded, and the ledger says why.
func TestRefunds(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	tab := s.signedIn(alice)

	tab.fill("Prompt", herons)
	tab.choose("3")
	tab.shows("Balance 10, afterwards 7.")
	tab.click("Generate")
	tab.shows("2 of 3 images came. 1 credit went back to your account.")
	tab.press("Details", 200)
	tab.shows("2 of 3 images came.", "Charged 3 credits", "Refunded 1 credit")
	s.is.Equal(tab.pictures(), 2)

	tab.open("playground", 200)
	tab.fill("Prompt", mirror)
	tab.choose("4")
	tab.shows("Balance 8, afterwards 4.")
	tab.click("Generate")
	tab.shows("The generation has failed. The credits were returned.")
	tab.press("Details", 200)
	tab.shows("failed", "Charged 4 credits", "Refunded 4 credits", "Nothing was delivered, and nothing is charged.")
	s.is.Equal(tab.pictures(), 0)

	tab.press("Credits", 200)
	tab.shows("Charged 3, used 2, refunded 1. The provider made 1 image fewer than was asked for.",
		"Charged 4, used 0, refunded 4. The provider cannot make these images")
	s.is.Equal(evaluate[[]string](tab, `[...document.querySelectorAll("#ledger tbody tr")].map((r) =>
		[...r.querySelectorAll("th, td.number")].map((c) => c.innerText.trim()).join(" "))`),
		[]string{"Refunded 0 8", "Partly refunded −2 8", "Granted +10 10"})
	tab.press(herons, 200)
	tab.shows("Refunded 1 credit")
}
