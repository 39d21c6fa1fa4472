package openapitest

import (
	"flag"
	"fmt"
	"testing"
)

// Main runs the tests of a package, for its TestMain, and returns the status to exit with. If all tests ran and passed,
// but Missing returns something for the prefixes, it prints that and returns 1.
func (w *Witness) Main(m *testing.M, prefixes ...string) (status int) {
	flag.Parse()
	if status = m.Run(); status != 0 || !runsAll() {
		return status
	}
	for _, missing := range w.Missing(prefixes...) {
		fmt.Println("the OpenAPI document (imagegen/httpapi/openapi) says what no test has seen: " + missing)
		status = 1
	}
	return status
}

// runsAll reports whether no flag keeps tests from running.
func runsAll() bool {
	all := !testing.Short()
	for _, name := range []string{"run", "skip", "list", "fuzz", "bench"} {
		all = all && flag.Lookup("test."+name).Value.String() == ""
	}
	return all
}
