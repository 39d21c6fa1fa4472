package fakeimage

import (
	"cmp"
	"math/rand/v2"
	"strings"
	"unicode"
)

// kind is what the land is like.
type kind int

const (
	anyKind kind = iota // not decided yet
	mountains
	hills
	sea
	forest
	desert
	city
)

// mood is what the words of a prompt ask for. What they leave open has its zero value until decide has chosen.
type mood struct {
	hour   hour
	kind   kind
	snow   bool
	figure string // fox, boat or birds; "": none
}

// themes holds each word that is understood, in lower case, with what it asks for.
var themes = index([]theme{
	{"dawn sunrise morning spring", mood{hour: dawn}},
	{"day noon sunny summer afternoon bright", mood{hour: day}},
	{"dusk sunset evening autumn golden fire", mood{hour: dusk}},
	{"night midnight moon moonlit star stars starry dark space", mood{hour: night}},
	{"mountain mountains alps peak peaks", mood{kind: mountains}},
	{"hill hills meadow field fields valley", mood{kind: hills}},
	{"sea ocean lake water beach river island harbour harbor", mood{kind: sea}},
	{"boat ship sail sailing sailboat", mood{kind: sea, figure: "boat"}},
	{"forest wood woods tree trees pine pines", mood{kind: forest}},
	{"desert dune dunes sand", mood{kind: desert}},
	{"city town street skyline tower", mood{kind: city}},
	{"snow snowy winter ice icy frost", mood{snow: true}},
	{"fox foxes", mood{figure: "fox"}},
	{"bird birds gull gulls", mood{figure: "birds"}},
})

// theme is words that all ask for the same.
type theme struct {
	words string // separated by spaces
	mood  mood
}

func index(themes []theme) map[string]mood {
	m := map[string]mood{}
	for _, t := range themes {
		for word := range strings.FieldsSeq(t.words) {
			m[word] = t.mood
		}
	}
	return m
}

// moodOf finds the mood of a prompt. Of words that contradict each other the first counts. Words are runs of letters;
// their case does not matter, and words that are not in themes ask for nothing.
func moodOf(prompt string) mood {
	var m mood
	notLetter := func(r rune) bool { return !unicode.IsLetter(r) }
	for word := range strings.FieldsFuncSeq(strings.ToLower(prompt), notLetter) {
		m.mix(themes[word])
	}
	return m
}

// mix takes from o what m leaves open.
func (m *mood) mix(o mood) {
	m.hour, m.kind = cmp.Or(m.hour, o.hour), cmp.Or(m.kind, o.kind)
	m.figure, m.snow = cmp.Or(m.figure, o.figure), m.snow || o.snow
}

// decide chooses what the prompt left open. What is listed twice is twice as likely. Snow without a landscape falls
// on mountains or on a forest, and birds do not fly at night.
func (m *mood) decide(r *rand.Rand) {
	hours := []hour{dawn, dawn, day, day, dusk, dusk, night}
	kinds := []kind{mountains, mountains, hills, sea, sea, forest, desert}
	h, k, birds := hours[r.IntN(len(hours))], kinds[r.IntN(len(kinds))], r.IntN(2) == 0
	m.hour = cmp.Or(m.hour, h)
	if m.kind == anyKind {
		m.kind = k
		if m.snow && k != mountains {
			m.kind = forest
		}
	}
	if m.figure == "" && birds && m.hour != night {
		m.figure = "birds"
	}
}
