// Package providertest has the test suite that every image provider should pass, and helpers for tests of a provider.
//
//	func TestProvider(t *testing.T) {
//		providertest.Run(t, providertest.Config{
//			New: func(t *testing.T) imagegen.Provider { return &provider.Fake{} },
//		})
//	}
package providertest

import (
	"cmp"
	"net/http"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/promisetest"
)

// Config says how to test a provider. Its upstream must answer every request completely,
// except one with the prompt Endless.
type Config struct {
	// New makes a provider for one test, and registers with t.Cleanup what must be closed.
	// Required.
	New func(t *testing.T) imagegen.Provider

	// Prompt is what pictures are asked for with. "": "a lighthouse at dusk".
	Prompt string

	// Endless is a prompt that the upstream never finishes, so that a running call can be
	// cancelled. "": calls are cancelled only before they begin and between two images.
	Endless string

	// Sample shortens the suite: each tier only in the first ratio, and the lowest tier
	// also in the widest and the tallest ratio.
	Sample bool

	// Usual says that the image of each ratio and tier has the size that imagegen.SizeFor returns.
	Usual bool

	// Answering makes a provider whose upstream is a handler, which registers with t.Cleanup what must be closed. nil:
	// there is no upstream.
	Answering func(t *testing.T, upstream http.Handler) imagegen.Provider

	// SavesJobs says that the provider saves jobs of upstream work. Then it must end a call whose SaveJob fails.
	SavesJobs bool
}

// promptly is how long a call may take to return when it was cancelled.
const promptly = 5 * time.Second

// Run runs the suite, each part as a subtest. A part that the provider's capabilities or c do
// not call for does nothing.
func Run(t *testing.T, c Config) {
	c.Prompt = cmp.Or(c.Prompt, "a lighthouse at dusk")
	for name, test := range map[string]func(*testing.T, Config){
		"declares what it can do":          declares,
		"has optional methods as declared": optionalMethods,
		"does nothing until ranged over":   lazy,
		"draws every ratio and tier":       ratiosAndTiers,
		"draws usual sizes":                usualSizes,
		"draws explicit sizes":             explicitSizes,
		"yields as many images as asked":   counts,
		"works concurrently":               concurrent,
		"reads and closes references":      references,
		"makes the formats it declares":    formats,
		"makes what is transparent":        transparent,
		"takes seeds":                      seeds,
		"reads and closes a mask":          masks,
		"reports an unreadable reference":  brokenReference,
		"starts nothing once cancelled":    cancelledBefore,
		"stops between images":             cancelledBetween,
		"stops in the middle of the work":  cancelledWithin,
		"releases everything at a break":   breaks,
		"stops when a job cannot be saved": unsavedJob,
		"quotes an answer without images":  imageless,
		"says what was used in time":       usedInTime,
		"keeps its connections":            keepsConnections,
	} {
		t.Run(name, func(t *testing.T) {
			promisetest.Log(t, "a provider: it "+name)
			test(t, c)
		})
	}
}
