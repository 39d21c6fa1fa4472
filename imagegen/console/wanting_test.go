package console_test

import "testing"

// Who has no credits is told how to come by some: an operator need not ask one.
func TestNoCredits(t *testing.T) {
	s := open(t)
	for name, v := range map[string]*visitor{"alice": s.signedIn("alice"), "olivia": s.operator()} {
		for _, path := range []string{"playground", "credits"} {
			a := v.get(path)
			s.is.Equal(a.has("ask the operator of this service for some"), name == "alice")
			s.is.Equal(a.has(`<a href="/console/users/usr_`, "grant yourself some"), name == "olivia")
		}
		tooFew := v.post("playground", "prompt", "a fox")
		s.is.Equal(tooFew.has("This costs 1 credit, and there are 0 credits. Ask the operator for credits."), name == "alice")
		s.is.Equal(tooFew.has("This costs 1 credit, and there are 0 credits. Grant yourself credits."), name == "olivia")
	}
}
