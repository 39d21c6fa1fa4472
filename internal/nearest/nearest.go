// Package nearest finds the word that somebody probably meant, for hints in error messages. It is meant for short
// names of commands, flags and keys: it compares bytes, and its time grows with the product of the lengths.
package nearest

import "strings"

// Name returns the known word that is closest to a word; "" if known is empty. Of several
// equally close ones it returns the first that is as long as the word, since who swaps letters
// does not change the length, or else the first.
func Name(word string, known []string) string {
	best, least := "", -1
	for _, k := range known {
		if d := distance(word, k); least < 0 || d < least || d == least && len(k) == len(word) &&
			len(best) != len(word) {
			best, least = k, d
		}
	}
	return best
}

// Hint returns `; did you mean "x"?` for the closest known word. It returns "" if that differs from the word by more
// changes than half of the word's bytes: then it was probably not meant.
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

// distance returns how many bytes must be changed, added or removed to make one word of the other (the Levenshtein
// distance). Of the usual table it keeps one row.
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
