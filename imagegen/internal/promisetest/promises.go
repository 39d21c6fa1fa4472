// Package promisetest puts into the log, if a test of a suite fails, which sentence of the contract is broken.
package promisetest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Package is marks failures by colours, which a file or a log shows as codes. -nocolor=false brings them back.
func init() { _ = flag.Set("nocolor", "true") }

// Promises has the sentence of the contract that each test checks, by suite and test: "Store/Create".
type Promises map[string]string

// Expect logs the promise of a test if the test fails. Every test of the suites has one.
func (p Promises) Expect(t *testing.T, test string) {
	t.Helper()
	sentence, ok := p[test]
	if !ok {
		t.Fatalf("%s checks a promise that promises.go does not put into words", test)
	}
	Log(t, test+": "+sentence)
}

// Log logs a sentence if the test fails.
func Log(t *testing.T, sentence string) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("BROKEN PROMISE of " + sentence)
		}
	})
}

// HaveTests fails for each promise without a test among the sources of the package under test: a test that was removed
// or renamed leaves no sentence behind. Expect looks for the reverse.
func (p Promises) HaveTests(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, f := range files {
		if strings.HasPrefix(f, "promises") {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	for test := range p {
		_, name, _ := strings.Cut(test, "/")
		if !strings.Contains(source.String(), `("`+name+`", `) && !strings.Contains(source.String(), `"`+name+`":`) {
			t.Errorf("there is no test %s", test)
		}
	}
}
