//go:build race

package simulation_test

// seeds is how many worlds are simulated under the race detector, which takes its time.
const seeds = 60
