package httpapi

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// meant says which field does what others call by these names.
var meant = map[string]string{
	"aspect_ratio": "size", "ratio": "size", "resolution": "size", "width": "size", "height": "size",
	"num_images": "n", "count": "n", "image": "reference_image", "images": "reference_image", "mask": "reference_image",
}

// nearest returns the known name that an unknown one comes closest to.
func nearest(name string, known []string) string {
	name = strings.ToLower(shorten(name))
	best, least := known[0], -1
	for _, k := range known {
		if k == meant[name] {
			return k
		}
		if d := distance(name, k); least < 0 || d < least {
			best, least = k, d
		}
	}
	return best
}

// distance counts the insertions, deletions and substitutions that lead from a to b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// longestShown is how much of what a caller sent is repeated in a message.
const longestShown = 40

func shorten(s string) string {
	if utf8.RuneCountInString(s) > longestShown {
		return string([]rune(s)[:longestShown]) + "…"
	}
	return s
}

// shown quotes what a caller sent.
func shown(s string) string { return strconv.Quote(shorten(s)) }
