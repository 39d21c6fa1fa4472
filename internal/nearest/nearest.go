// Package nearest finds the word that somebody probably meant, for hints in error messages. It compares bytes, in
// time that grows with the product of the lengths: it is meant for names of commands, flags and keys.
package nearest

import "strings"

// Name returns the known word closest to a word; "" if known is empty. Of several equally close ones it prefers the
// first that is as long as the word, since swapped letters change no length, and then the first.
func Name(word string, known []string) string {
	best, least := "", -1
	for _, k := range known {
		if d := distance(word, k); least < 0 || d < least || d == least && len(k) == len(word) && len(best) != len(word) {
			best, least = k, d
		}
	}
	return best
}

// Hint returns `; did you mean "x"?` for the nearest known word, or "" if that differs from the word in more than
// half of its letters: that would be a gamble.
func Hint(word string, known []string) string {
	best := Name(word, known)
	if best == "" || distance(word, best) > len(word)/2 {
		return ""
	}
	return `; did you mean "` + best + `"?`
}

// HintOrAll is Hint or, where that is "", a list of all known words in their order.
func HintOrAll(word string, known []string) string {
	if hint := Hint(word, known); hint != "" {
		return hint
	}
	return "; there are: " + strings.Join(known, ", ")
}

// distance counts the single-byte changes between two words (Levenshtein), with one row of the table in memory.
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
