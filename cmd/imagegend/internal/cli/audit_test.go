package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// A backup is restored for the books, not for images: that would lose what came after it.
func TestAuditAdvice(t *testing.T) {
	image, journal := imagegen.Violation{Rule: "image bytes"}, imagegen.Violation{Rule: "journal chain"}
	tests := map[string]struct {
		report imagegen.AuditReport
		want   string
	}{
		"images": {imagegen.AuditReport{Violations: []imagegen.Violation{image, image}},
			"found 2 violations; only image files are wrong"},
		"books": {imagegen.AuditReport{Violations: []imagegen.Violation{journal}},
			"restore the last good backup"},
		"both": {imagegen.AuditReport{Violations: []imagegen.Violation{image, journal}},
			"restore the last good backup"},
		"more than are listed": {imagegen.AuditReport{Violations: []imagegen.Violation{image}, More: 1},
			"restore the last good backup"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			err := (&app{stdout: io.Discard}).reportViolations(test.report, false)
			is.True(err != nil && strings.Contains(err.Error(), test.want))
		})
	}
}
