package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"slices"
)

// mutant is a planted defect and the test that has to notice it.
type mutant struct {
	name   string
	breaks string // the promise that no longer holds
	file   string
	in     string // what is declared there: a function, a method (type.method), a variable or a constant
	edit
	catcher
}

// plant returns the file with the defect in it.
func (m mutant) plant(src []byte) ([]byte, error) {
	d, err := declared(src, m.in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.file, err)
	}
	changes, err := m.edit(d)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", m.file, m.in, err)
	}
	mutated, err := applySplices(src, changes)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", m.file, m.in, err)
	}
	_, err = parser.ParseFile(token.NewFileSet(), m.file, mutated, parser.SkipObjectResolution)
	return mutated, err
}

// catcher is a test, as go test names it, and how many runs of a proof are enough; 0: its own.
type catcher struct {
	pkg  string
	run  string
	runs int
}

// by is a test that catches a mutant.
func by(pkg, run string) catcher { return catcher{pkg: pkg, run: run} }

const (
	core    = "./imagegen/engine"
	root    = "./imagegen"
	disk    = "./imagegen/storage"
	objects = "./imagegen/storage/s3"
	memory  = "./imagegen/storage/memory"
	shared  = "./imagegen/storage/postgres"
	books   = "./imagegen/storage/internal/ledger"
	tables  = "./imagegen/storage/internal/tables"
	service = "./imagegen/httpapi"

	compatible = "./imagegen/httpapi/openai"

	conformance = "./cmd/imagegend/conformance"
	survival    = "./cmd/imagegend/survival"

	pictures = "./imagegen/internal/picture"
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
	return slices.Concat(ofDurability, ofBooks, ofPrices, ofLifecycle, ofQueue, ofRefusals, ofLimits, ofMembers,
		ofTrail, ofSignIn, ofNodes, ofHostTx, ofFeed, ofWebhooks, ofAges, ofSurvivors)
}
