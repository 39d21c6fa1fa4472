package conformance_test

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// check is a test of some lines of the documents.
type check struct {
	name string
	// lines are what it checks, each "spec: " or "contract: " and a piece of text that stands in one
	// line of that document.
	lines []string

	run    func(t *testing.T, s *service) // against both services
	daemon func(t *testing.T)             // against daemons of its own

	// elsewhere names tests of other packages, for what cannot be seen from outside or within the
	// time that a test has: the directory from the root of the module, a dot, the function.
	elsewhere []string
}

func checks() []check {
	return slices.Concat(
		modelChecks, priceChecks, creditChecks, authChecks, keyChecks, routingChecks, orderChecks,
		synchronousChecks, asynchronousChecks, fieldChecks, sizeChecks, formChecks, referenceChecks, optionChecks,
		failureChecks, hangUpChecks, idempotencyChecks, joinChecks, shapeChecks, listChecks, beforeTheEndChecks,
		ownershipChecks, imageChecks, addressChecks, overloadChecks, requestIDChecks, limitChecks, openAPIChecks,
		mcpChecks, fakeChecks, restartChecks, serveChecks, devChecks, generateChecks, userCommandChecks,
		creditCommandChecks, eraseChecks, auditChecks, backupChecks, configurationChecks, usageChecks, meterChecks,
		operatorChecks, memberChecks, hostChecks,
	)
}

// TestMain lets more tests run at once than there are processors: most of the time they wait.
func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "16")
	os.Exit(daemontest.Main(m))
}

func TestInProcess(t *testing.T) { runChecks(t, startInProcess) }

func TestDaemon(t *testing.T) {
	runChecks(t, startDaemon)
	runSuite(t, startDaemon)
	for _, c := range checks() {
		if c.daemon != nil {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				c.daemon(t)
			})
		}
	}
}

// runSuite runs the suite of every imagegen.Service, by the client.
func runSuite(t *testing.T, start func(*testing.T, settings) *service) {
	s := start(t, settings{concurrency: 64})
	as := func(t *testing.T, credits int) imagegen.Service {
		c, err := client.New(s.url, s.account(t, credits).key, nil)
		is.New(t).NoErr(err)
		return c
	}
	imagegentest.Service(t, func(t *testing.T) imagegentest.Fixture {
		return imagegentest.Fixture{Alice: as(t, 100), Bob: as(t, 3)}
	})
}

// runChecks runs the checks against one service, side by side, each with users of its own.
func runChecks(t *testing.T, start func(*testing.T, settings) *service) {
	s := start(t, settings{})
	for _, c := range checks() {
		if c.run != nil {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				c.run(t, s)
			})
		}
	}
}
