package console

import (
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen/console/internal/password"
)

// Hashes tells how many passwords were hashed.
func (c *Console) Hashes() int64 { return c.passwords.Computed() }

// Route is a line of the table of routes.
type Route struct {
	Method, Path       string // {name} stands for any segment
	SignedIn, Operator bool   // who it asks for
}

// Routes lists every route there is.
func Routes() (routes []Route) {
	for _, r := range table {
		method, path, _ := strings.Cut(r.pattern, " ")
		path = strings.TrimPrefix(strings.TrimSuffix(path, "{$}"), "/")
		routes = append(routes, Route{method, path, r.access >= signedIn, r.access >= operator})
	}
	return routes
}

// Day is an amount on one day.
type Day = day

// OfCredits is the unit of a chart.
var OfCredits = ofCredits

// Bar is one day of a chart.
type Bar = bar

// NewChart draws a chart.
var NewChart = newChart

// Overburden makes the console refuse to hash passwords, as under a flood of them, until free is called.
func (c *Console) Overburden() (free func()) {
	before := c.passwords
	c.passwords = new(password.Hasher)
	return func() { c.passwords = before }
}

// Sample is a request in a language.
type Sample = sample

// Samples writes a request in each language.
var Samples = samples

// Shape is a drawn rectangle.
type Shape = shape

// ShapeOf draws a size or a ratio.
var ShapeOf = shapeOf

// Answers are what an upstream has answered.
type Answers = answers

// Told is what a History tells of an upstream.
type Told = upstreamHistory

// Health tells of each upstream.
func (h *History) Health(now time.Time) []Told { return h.health(now) }

// Within tells how long a part of a model's generations took at most.
func (h *History) Within(model string, part float64, now time.Time) string {
	return h.latencies(now)[model].Within(part)
}
