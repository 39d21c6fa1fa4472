// Package nearest finds the word that somebody probably meant.
package nearest

import "strings"

// Name returns the known word that a word comes closest to; "" if none is known. Of several it is the
// first as long as the word, since swapped letters change no length, or else the first.
func Name(word string, known []string) string {
	best, least := "", -1
	for _, k := range known {
		if d := distance(word, k); least < 0 || d < least || d == least && len(k) == len(word) && len(best) != len(word) {
			best, least = k, d
		}
	}
	return best
}

// Hint returns `; did you mean "x"?` for the known word nearest to the given one, or "" when none
// is near enough to be a guess rather than a gamble.
func Hint(word string, known []string) string {
	best := Name(word, known)
	if best == "" || distance(word, best) > len(word)/2 {
		return ""
	}
	return `; did you mean "` + best + `"?`
}

// HintOrAll is Hint, or a list of all known words, as they come, when none is near enough.
func HintOrAll(word string, known []string) string {
	if hint := Hint(word, known); hint != "" {
		return hint
	}
	return "; there are: " + strings.Join(known, ", ")
}

// distance counts the single-letter changes between two words (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
