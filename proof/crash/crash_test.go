package crash_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/proof/internal/figures"
)

// TestEveryStep has each step of each scenario go wrong in each way.
//
//	PROOF_TIMES=1 go test ./proof/crash -run 'TestEveryStep/async/outside/7/lost'
func TestEveryStep(t *testing.T) {
	var met figures.Figures
	t.Cleanup(func() {
		met.Report(t, "crash")
		everyCall(t, &met)
	})
	everywhere(t, scenarios, func(t *testing.T, s scenario, p setup) {
		n := undisturbed(t, s, p)
		runs, missed := 0, 0
		each(n, func(at int) int {
			hits := everyFault(t, &met, s, p, at, at <= n)
			runs += hits
			if at <= n {
				missed += len(p.faults()) - hits
			}
			return hits
		})
		t.Logf("%d steps, %d runs, %d missed", n, runs, missed)
		met.Add("scenarios", 1)
		met.Add("steps", n)
		met.Add("runs", runs)
		met.Add("missed", missed)
	})
}

// TestSomeStepsOnPostgres has steps of every scenario go wrong while other processes are on the same database: some
// of them, for each run makes and empties a database.
func TestSomeStepsOnPostgres(t *testing.T) {
	server = postgrestest.Start(t)
	var met figures.Figures
	planned := 0
	r := rand.New(rand.NewPCG(figures.Seed(), 0))
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			n := undisturbed(t, s, nodes)
			for range figures.Runs(stepsOnPostgres) {
				at, kind := 1+r.IntN(n), nodes.faults()[r.IntN(len(nodes.faults()))]
				planned++
				t.Run(fmt.Sprintf("%d/%s", at, kind), func(t *testing.T) {
					if goWrong(t, s, nodes, at, kind) != "" {
						met.Add("runs", 1)
					}
				})
			}
		})
	}
	met.Report(t, "crash-postgres")
	if met.Get("runs")*10 < planned*9 {
		t.Errorf("only %d of %d steps were met", met.Get("runs"), planned)
	}
}

// stepsOnPostgres is how many steps of a scenario go wrong there.
const stepsOnPostgres = 5

// everyCall checks that each kind of call has gone wrong somewhere, if all scenarios have run.
func everyCall(t *testing.T, met *figures.Figures) {
	if met.Get("scenarios") < len(scenarios)*len(setups) || figures.Short() {
		return
	}
	for _, name := range calls {
		if met.Get(name) == 0 {
			t.Errorf("no %s has gone wrong", name)
		}
	}
	if missed, planned := met.Get("missed"), met.Get("missed")+met.Get("runs"); missed*50 > planned {
		t.Errorf("%d of %d steps and faults were not met", missed, planned)
	}
}

// everywhere runs scenarios in all setups.
func everywhere(t *testing.T, scenarios []scenario, test func(*testing.T, scenario, setup)) {
	for _, s := range scenarios {
		for _, p := range setups {
			t.Run(s.name+"/"+string(p), func(t *testing.T) {
				t.Parallel()
				test(t, s, p)
			})
		}
	}
}

// each tries the steps from 1 to n, and further ones as long as there are any: something that goes
// wrong may take steps of its own. try returns in how many runs the step was reached. The short form
// tries one step of five.
func each(n int, try func(at int) int) {
	for at := 1; try(at) > 0 || at < n; at += figures.Stride() {
	}
}

// undisturbed checks that the scenario is what its name says, and counts its steps.
func undisturbed(t *testing.T, s scenario, p setup) (steps int) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, s, p)
		w.live(newSteps(0, ""), s.play)
		steps = w.steps.taken()
		w.finish(w.steps.gone())
		if got := w.clientOrders[0].outcome; got != s.want {
			t.Errorf("undisturbed, the answer to the first request is %q instead of %q", got, s.want)
		}
	})
	if steps == 0 {
		t.Error("the scenario takes no step")
	}
	return steps
}

// everyFault has one step go wrong in each way. It returns in how many ways it did. One that exists
// is tried again when it was not reached: what happens at one instant happens in any order, and the
// work sometimes takes a step less.
func everyFault(t *testing.T, met *figures.Figures, s scenario, p setup, at int, exists bool) (hits int) {
	for _, kind := range p.faults() {
		t.Run(fmt.Sprintf("%d/%s", at, kind), func(t *testing.T) {
			for range 10 {
				call := goWrong(t, s, p, at, kind)
				if call != "" {
					met.Add(call, 1)
					hits++
				}
				if call != "" || !exists {
					return
				}
			}
		})
	}
	return hits
}

// goWrong has one step go wrong in one way, and returns which call it was; "" if there was none.
func goWrong(t *testing.T, s scenario, p setup, at int, kind fault) (call string) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, s, p)
		first := newSteps(at, kind)
		if w.live(first, s.play) {
			call = first.name
			w.finish(first.gone())
		}
	})
	return call
}

// finish has another process take over where one died, and judges.
func (w *world) finish(died bool) {
	if w.steps.gone() {
		w.live(newSteps(0, ""), (*world).takeOver)
	}
	w.remount()
	w.judge(died)
}

// takeOver is what clients do at the process that takes over.
func (w *world) takeOver() {
	time.Sleep(time.Minute) // leases end
	w.settle()
	if w.again != nil {
		w.again(w)
		return
	}
	w.repeatDoubtful()
}

// explain tells of a failure where it happened, and how to bring it back.
func (w *world) explain() {
	if w.Failed() && w.steps != nil {
		w.Logf("the last step to go wrong was %q (%s); to see this alone:\n\tPROOF_TIMES=1 go test ./proof/crash -count=1 -run '^%s$'",
			w.steps.name, w.steps.kind, strings.ReplaceAll(w.Name(), "/", "$/^"))
	}
}

// TestEveryStepOfRecovery has the process die at each step, and the one that takes over at each of
// its own.
func TestEveryStepOfRecovery(t *testing.T) {
	var met figures.Figures
	t.Cleanup(func() { met.Report(t, "crash-in-recovery") })
	var simplest []scenario
	for _, s := range scenarios {
		if s.twice {
			simplest = append(simplest, s)
		}
	}
	everywhere(t, simplest, func(t *testing.T, s scenario, p setup) {
		pairs := 0
		each(undisturbed(t, s, p), func(at int) (reached int) {
			for _, first := range []fault{dies, diesLate} {
				reached += everySecondCrash(t, s, p, at, first)
			}
			pairs += reached
			return reached
		})
		t.Logf("%d pairs of crashes", pairs)
		met.Add("scenarios", 1)
		met.Add("runs", pairs)
	})
}

// everySecondCrash has the process die at one step, and the next one at each. It returns in how many
// runs both did.
func everySecondCrash(t *testing.T, s scenario, p setup, at int, first fault) (reached int) {
	each(recovery(t, s, p, at, first), func(then int) (again int) {
		for _, second := range []fault{dies, diesLate} {
			t.Run(fmt.Sprintf("%d/%s/%d/%s", at, first, then, second), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, s, p)
					if w.live(newSteps(at, first), s.play) && w.live(newSteps(then, second), (*world).takeOver) {
						again++
						w.finish(true)
					}
				})
			})
		}
		reached += again
		return again
	})
	return reached
}

// recovery counts the steps of the process that takes over from one that died.
func recovery(t *testing.T, s scenario, p setup, at int, first fault) (steps int) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, s, p)
		if w.live(newSteps(at, first), s.play) {
			w.live(newSteps(0, ""), (*world).takeOver)
			steps = w.steps.taken()
		}
	})
	return steps
}
