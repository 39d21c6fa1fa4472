// Package operator has the pages on which operators look after users and read the audit trail.
package operator

import (
	"embed"

	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

//go:embed templates
var sources embed.FS

// Templates are those of the pages.
var Templates = frame.Templates{Files: sources}
