package main_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// The level decides what is logged, except that the record "ready" always comes, with the link that makes the first
// operator.
func TestLogLevel(t *testing.T) {
	t.Parallel()
	for level, want := range map[string][]string{
		"debug": {"DEBUG", "INFO", "WARN"},
		"info":  {"INFO", "WARN"},
		"warn":  {"WARN"},
		"error": nil,
	} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			d := daemontest.Start(t, daemontest.Options{Args: []string{"--log-level", level, "--log-format", "json"}})
			is.Equal(d.Call(daemontest.Request{Path: "/healthz"}).Status, 200)
			is.Equal(d.Call(daemontest.Request{Path: "/api/v1/models"}).Status, 200)
			is.Equal(d.Terminate(drainLimit), 0)
			var levels []string
			ready := false
			for line := range strings.Lines(d.Output()) {
				var l struct{ Level, Msg string }
				is.NoErr(json.Unmarshal([]byte(line), &l))
				if l.Msg == "ready" {
					ready = true
				} else {
					levels = append(levels, l.Level)
				}
			}
			is.True(ready)
			slices.Sort(levels)
			is.Equal(slices.Compact(levels), want)
		})
	}
}
