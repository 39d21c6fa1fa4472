// Package simulation proves the whole engine in virtual time, and its patience with providers.
//
// Each seed of TestSimulation makes hours of one service: engines over a store, a ledger, an image
// store and a provider that all fail, drained and crashed and started again while its clock jumps,
// under clients that retry, hang up, poll, erase and read, in process and over HTTP. A witness keeps
// every answer to a client; when the faults have ended and all is quiet, nothing that was answered may
// be untrue, no credit and no image lost, doubled or left over.
//
// A seed decides every fault, delay, choice and identifier, and with the delays in which order calls
// arrive. What runs at the same virtual instant is left to the scheduler; on the one processor that
// the test allows itself, about nineteen seeds of twenty take the same course to the nanosecond when
// they are run again. Under the race detector, which shuffles the scheduler, fewer do.
//
// TestMisdeeds holds the engine against each single misdeed of a provider.
package simulation
