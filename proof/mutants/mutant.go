package main

import "slices"

// mutant is a planted defect and the test that has to notice it.
type mutant struct {
	name   string
	breaks string // the promise that no longer holds
	file   string
	old    string // found in the file exactly once
	new    string
	catcher
}

// catcher is a test, as go test is told of it, and how many runs of a proof are enough; 0: its own.
type catcher struct {
	pkg  string
	run  string
	runs int
}

const (
	core    = "./imagegen/engine"
	root    = "./imagegen"
	disk    = "./imagegen/storage"
	memory  = "./imagegen/storage/memory"
	books   = "./imagegen/storage/internal/ledger"
	tables  = "./imagegen/storage/internal/tables"
	service = "./imagegen/httpapi"

	conformance = "./cmd/imagegend/conformance"

	upstream = "./imagegen/provider/internal/upstream"
	turns    = "./imagegen/engine/internal/schedule"
	bounds   = "./imagegen/engine/internal/bound"

	crash      = "./proof/crash"
	linear     = "./proof/linear"
	model      = "./proof/model"
	simulation = "./proof/simulation"
	platter    = "./proof/disk"
)

// mutants lists all of them.
func mutants() []mutant { return append(ofAllParts(), seenByProofs()...) }

func ofAllParts() []mutant {
	return slices.Concat(ofDurability, ofBooks, ofLifecycle, ofQueue, ofRefusals, ofLimits, ofTrail, ofSignIn)
}
