package browsertest_test

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// A browser that was never here loads little before the playground can be used.
func TestColdPlayground(t *testing.T) {
	s := open(t)
	tab := s.signedIn(s.user("alice", account.RoleUser))
	tab.shows("Your images appear here")
	const most = 120 << 10
	loaded := evaluate[map[string]int](tab, `Object.fromEntries([...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
		.map((e) => [new URL(e.name).pathname, e.encodedBodySize]))`)
	all := 0
	for name, bytes := range loaded {
		if bytes == 0 {
			t.Errorf("%s was not measured", name)
		}
		all += bytes
	}
	t.Logf("%d bytes: %v", all, loaded)
	if all > most {
		t.Errorf("the cold playground is %d bytes, which is more than %d: %v", all, most, loaded)
	}
}

// The figures are told with -v, and depend on the machine: what lies between the press on Generate and the image that can
// be seen, and how much of it is the console's, which is what the generation itself did not take.
func TestPromptToImage(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	tab := s.signedIn(alice)
	tab.fill("Prompt", "A red fox in fresh snow")
	for range 5 {
		seen := evaluate[float64](tab, `(async () => {
			const before = document.querySelector("#result img")?.src, began = performance.now();
			document.getElementById("generate").click();
			for (;;) {
				const image = document.querySelector("#result figure img");
				if (image && image.src !== before) { await image.decode(); return performance.now() - began; }
				await new Promise(requestAnimationFrame);
			}
		})()`)
		list, err := s.As(alice.ID).Generations(t.Context(), imagegen.Query{Limit: 1})
		s.is.NoErr(err)
		s.await(list.Generations[0].ID)
		g, err := s.As(alice.ID).Generation(t.Context(), list.Generations[0].ID)
		s.is.NoErr(err)
		made := g.CompletedAt.Sub(g.CreatedAt).Seconds() * 1000
		t.Logf("seen after %.0f ms; made in %.0f ms; the console's %.0f ms", seen, made, seen-made)
	}
}
