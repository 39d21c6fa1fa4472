package daemon_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemon"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

func TestChanges(t *testing.T) {
	type prices = map[imagegen.Tier]imagegen.Credits
	is := is.New(t)
	before := []engine.Model{
		{ID: "same", Credits: prices{"1K": 1}},
		{ID: "dearer", Credits: prices{"1K": 1, "2K": 2}},
		{ID: "old", Credits: prices{"1K": 1}},
		{ID: "back", Credits: prices{"1K": 1}, Retired: true},
		{ID: "gone", Credits: prices{"1K": 1}},
		{ID: "moved", Credits: prices{"1K": 1}, Upstreams: []string{"bfl key_env=A"}},
	}
	after := []engine.Model{
		{ID: "new", Credits: prices{"1K": 5}},
		{ID: "same", Credits: prices{"1K": 1}},
		{ID: "dearer", Credits: prices{"1K": 3}, MaxImages: 1},
		{ID: "old", Credits: prices{"1K": 1}, Retired: true},
		{ID: "back", Credits: prices{"1K": 1}},
		{ID: "moved", Credits: prices{"1K": 1}, Upstreams: []string{"bfl key_env=B"}},
	}
	is.Equal(cmp.Diff([]string{
		"new: added, credits 1K 5",
		"dearer: credits 1K 3 instead of credits 1K 1, 2K 2, other limits",
		"old: retired",
		"back: offered again",
		"moved: made by bfl key_env=B instead of bfl key_env=A",
		"gone: removed",
	}, daemon.Changes(before, after)), "")
	is.Equal(len(daemon.Changes(after, after)), 0)
}
