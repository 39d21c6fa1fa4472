//go:build !race

package simulation_test

// seeds is how many worlds are simulated by default; PROOF_TIMES=25 makes 5,000 of them.
const seeds = 200
