package browsertest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// widths are those of telephones, tablets, small, ordinary and large screens.
var widths = []int64{360, 768, 1024, 1280, 1920}

// TestTables shows long tables in narrow windows: each row fits the window, and no word is broken that has room.
func TestTables(t *testing.T) {
	s := open(t)
	alice, olivia := s.user("alice", account.RoleUser), s.user("olivia", account.RoleOperator)
	mint := func(name string, expires time.Time) {
		_, _, err := s.Accounts().MintKey(t.Context(), alice.ID, name, expires)
		s.is.NoErr(err)
	}
	mint("web shop", time.Time{})
	mint("the build server of the studio in Antananarivo", s.clock.Now().AddDate(0, 6, 0))
	mint(strings.Repeat("k", 60), s.clock.Now().AddDate(1, 0, 0))
	for _, name := range []string{"bartholomew.featherstonehaugh@photographic-department.example.com", "carol",
		strings.Repeat("w", 64)} {
		u, err := s.Accounts().CreateUser(t.Context(), name, "ENTERPRISE")
		s.is.NoErr(err)
		s.grant(u, imagegen.Grant{Credits: 9007199254740})
	}
	s.user("the-second-operator-of-this-service", account.RoleOperator)
	s.grant(alice, imagegen.Grant{Credits: 40, Ref: strings.Repeat("invoice-", 20)})
	s.generate(alice, "A lighthouse", 1)
	s.generate(alice, herons, 3)
	user := s.signedIn(alice)
	user.tabulate("keys")
	user.tabulate("credits")
	operator := s.signedIn(olivia)
	for _, page := range []string{"", "/ledger", "/generations"} {
		operator.tabulate("users/" + string(alice.ID) + page)
	}
	s.is.NoErr(s.Accounts().SuspendUser(t.Context(), alice.ID))
	for _, page := range []string{"users", "trail", "system"} {
		operator.tabulate(page)
	}
}

// tabulate checks the tables of a page in every width.
func (t *tab) tabulate(page string) {
	t.Helper()
	t.open(page, 200)
	for _, width := range widths {
		l := look{fmt.Sprint(width), "light", width}
		t.wear(l)
		t.fits(page + ", " + l.name)
		for _, broken := range evaluate[[]string](t, brokenTables) {
			t.Errorf("%s at %s: %s", page, l.name, broken)
		}
		if *screenshots != "" {
			t.write(filepath.Join(*screenshots, "table-"+strings.ReplaceAll(page, "/", "-")+"-"+l.name+".png"),
				t.shoot(l, 0))
		}
	}
}

// brokenTables returns tables that are wider than their container, and short words on more than one line.
const brokenTables = `[...document.querySelectorAll("main .scroll")].flatMap((place) => {
	const said = place.scrollWidth > place.clientWidth + 1 ? ["a table of " + place.scrollWidth + " px in a place of " + place.clientWidth] : [];
	const texts = document.createTreeWalker(place.querySelector("tbody"), NodeFilter.SHOW_TEXT), range = document.createRange();
	while (texts.nextNode()) {
		range.selectNodeContents(texts.currentNode);
		const text = texts.currentNode.data.trim(), lines = new Set([...range.getClientRects()].map((line) => line.top)).size;
		if (text.length > 0 && text.length < 15 && lines > 1) said.push("“" + text + "” stands in " + lines + " lines");
	}
	return said;
})`
