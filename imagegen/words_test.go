package imagegen_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// refusedWords make a sentence hard to read, or to find by a search: they are correct English, but the field does not
// use them. This is the only list of them.
var refusedWords = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\btold|\w*Told\b`),
		`say what happens: "returns", "reports", "the answer has", "distinguished from"`},
	{regexp.MustCompile(`(?i)\bwhoever`), `"anybody who", or the person: the caller, the operator, the user`},
	{regexp.MustCompile(`(?i)\blest\b`), `"so that … not"`},
	{regexp.MustCompile(`(?i)\bof whom\b`), `a second sentence`},
	{isNo, `"is not a"`},
}

// isNo finds "is no" before a noun, also across the lines of a comment. Its groups are the words before and after.
var isNo = regexp.MustCompile(`(?i)(?:(\w+)[\s/#*]+)?\b(?:is|are|was|were|be|been|being)[\s/#*]+no[\s/#*]+(\w+)`)

// "There is no X" is plain English, and so are comparisons.
var (
	beforeIsNo = []string{"there"}
	afterIsNo  = []string{"longer", "larger", "more", "less", "older", "newer", "smaller", "higher", "lower", "better",
		"worse", "shorter", "fewer", "wider", "later", "earlier", "faster", "slower", "one"}
)

// othersWords are files whose words are not this project's, and the list itself.
var othersWords = regexp.MustCompile(`^(LICENSE|CHANGELOG\.md|docs/spec\.md|imagegen/words_test\.go|.*/(testdata|licenses)/.*|.*\.min\.(js|css)|.*\.sum|.*/package-lock\.json)$`)

// Product, tests, documents and scripts use plain words.
func TestWordsArePlain(t *testing.T) {
	inTree(t, func(path string) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		if othersWords.MatchString(name) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || !utf8.Valid(text) {
			return err
		}
		for _, w := range refusedWords {
			for _, m := range w.pattern.FindAllSubmatchIndex(text, -1) {
				if w.pattern == isNo && (slices.Contains(beforeIsNo, group(text, m, 1)) ||
					slices.Contains(afterIsNo, group(text, m, 2))) {
					continue
				}
				t.Errorf("%s:%d: %q: instead, %s", name, 1+bytes.Count(text[:m[0]], []byte("\n")), text[m[0]:m[1]],
					w.instead)
			}
		}
		return nil
	})
}

// group returns a group of a match in lower case; "" if it took no part.
func group(text []byte, match []int, n int) string {
	if match[2*n] < 0 {
		return ""
	}
	return strings.ToLower(string(text[match[2*n]:match[2*n+1]]))
}
