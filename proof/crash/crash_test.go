package crash_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/proof/internal/figures"
)

var faults = []fault{refuses, fails, loses, dies, diesLate, halts, haltsLate}

// TestEveryStep has each step of each scenario go wrong in each way.
//
//	go test ./proof/crash -run 'TestEveryStep/async/outside/17/lost'
func TestEveryStep(t *testing.T) {
	var met figures.Figures
	for _, s := range scenarios {
		for ledger, joint := range map[string]bool{"joint": true, "outside": false} {
			t.Run(s.name+"/"+ledger, func(t *testing.T) {
				undisturbed(t, s, joint)
				steps := 0
				for at := 1; everyFault(t, &met, s, joint, at); at++ {
					steps = at
				}
				met.Add("steps", steps)
				if steps == 0 {
					t.Error("the scenario takes no step")
				}
			})
		}
	}
	met.Add("scenarios", 2*len(scenarios))
	met.Report(t, "crash")
}

// undisturbed checks that the scenario is what its name says.
func undisturbed(t *testing.T, s scenario, joint bool) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, s, joint)
		w.live(newSteps(0, ""), s.play)
		w.finish(w.steps.gone())
		if got := w.told[0].outcome; got != s.want {
			t.Errorf("undisturbed, the first request is told %q instead of %q", got, s.want)
		}
	})
}

// everyFault has one step go wrong in each way. It reports whether there is such a step.
func everyFault(t *testing.T, met *figures.Figures, s scenario, joint bool, at int) (reached bool) {
	for _, kind := range faults {
		t.Run(fmt.Sprintf("%d/%s", at, kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, s, joint)
				first := newSteps(at, kind)
				if !w.live(first, s.play) {
					w.finish(false)
					return
				}
				reached = true
				met.Add("runs", 1)
				w.finish(first.gone())
				if t.Failed() {
					t.Logf("step %d is %s, which %s", at, first.name, kind)
				}
			})
		})
	}
	return reached
}

// finish has another process take over where one died, and judges.
func (w *world) finish(died bool) {
	if w.steps.gone() {
		w.live(newSteps(0, ""), (*world).takeOver)
	}
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

// TestEveryStepOfRecovery has the process die at each step, and the one that takes over at each of
// its own.
func TestEveryStepOfRecovery(t *testing.T) {
	var met figures.Figures
	for _, s := range scenarios {
		for ledger, joint := range map[string]bool{"joint": true, "outside": false} {
			if !s.twice {
				continue
			}
			t.Run(s.name+"/"+ledger, func(t *testing.T) {
				for at := 1; everySecondCrash(t, &met, s, joint, at); at++ {
					met.Add("first", 1)
				}
			})
		}
	}
	met.Report(t, "crash-in-recovery")
}

// everySecondCrash has the process die at one step. It reports whether there is such a step.
func everySecondCrash(t *testing.T, met *figures.Figures, s scenario, joint bool, at int) (reached bool) {
	for _, first := range []fault{dies, diesLate} {
		for then := 1; ; then++ {
			again := false
			for _, second := range []fault{dies, diesLate} {
				t.Run(fmt.Sprintf("%d/%s/%d/%s", at, first, then, second), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						w := newWorld(t, s, joint)
						if !w.live(newSteps(at, first), s.play) {
							return
						}
						reached = true
						if w.live(newSteps(then, second), (*world).takeOver) {
							again = true
							met.Add("runs", 1)
						}
						w.finish(true)
					})
				})
			}
			if !again {
				break
			}
		}
	}
	return reached
}
