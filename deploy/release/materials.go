package main

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"runtime/debug"
)

// materials writes a bill of materials in the form CycloneDX 1.5, from the build information in the program: what was
// linked in, and not what go.mod could add. A serial number, which is random, is left out.
func (r *release) materials(t target, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	type component struct {
		Type    string `json:"type"`
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
		PURL    string `json:"purl,omitempty"`
	}
	// The standard library is a component too: its flaws are those of the program.
	components := []component{{Type: "library", Name: "stdlib", Version: info.GoVersion, PURL: "pkg:golang/stdlib@" +
		info.GoVersion}}
	for _, m := range info.Deps {
		switch {
		case ours(m.Path):
			// In the workspace they have no version; all are released with the program's.
			m = &debug.Module{Path: m.Path, Version: "v" + r.version}
		case m.Replace != nil:
			m = m.Replace // it was linked in
		}
		components = append(components, component{Type: "library", Name: m.Path, Version: m.Version,
			PURL: "pkg:golang/" + m.Path + "@" + m.Version})
	}
	bill := map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata": map[string]any{
			"timestamp": r.time.Format("2006-01-02T15:04:05Z"),
			"component": component{Type: "application", Name: "imagegend", Version: r.version, PURL: "pkg:golang/" +
				info.Main.Path + "@v" + r.version},
		},
		"components": components,
	}
	out, err := json.MarshalIndent(bill, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(r.name(t, ".cdx.json"), append(out, '\n'), 0o644)
}
